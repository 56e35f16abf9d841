/**
 * What every engine of the tables must do. Each test works in partitions of its own, so one opening
 * serves the suite and a cluster's keyspace may be shared.
 */
import { afterAll, beforeAll, describe } from 'vitest'
import type { OpenedTables, OpenTables } from '../kit/open-tables.ts'
import { tablesConditionsContract } from './tables-conditions.contract.ts'
import { tablesExpiryContract } from './tables-expiry.contract.ts'
import { tablesLimitsContract } from './tables-limits.contract.ts'
import { tablesRowsContract } from './tables-rows.contract.ts'
import { tablesSlicesContract } from './tables-slices.contract.ts'
import type { Subject } from './tables-subject.ts'
import { tablesSwapsContract } from './tables-swaps.contract.ts'
import { tablesVersionsContract } from './tables-versions.contract.ts'

export const tablesContract = (open: OpenTables): void => {
  let opened: OpenedTables | undefined
  const subject: Subject = () => {
    if (!opened) throw new Error('the tables are not open')
    return opened.tables
  }
  beforeAll(async () => {
    opened = await open()
  })
  afterAll(() => opened?.[Symbol.asyncDispose]())

  describe('rows', () => tablesRowsContract(subject))
  describe('slices', () => tablesSlicesContract(subject))
  describe('conditional writes', () => tablesConditionsContract(subject))
  describe('a condition with other rows', () => tablesSwapsContract(subject))
  describe('versioned writes', () => tablesVersionsContract(subject))
  describe('limits', () => tablesLimitsContract(subject))
  describe('expiry', () => tablesExpiryContract(subject))
}
