import { describe, expect, test } from 'vitest'
import { Passwords } from '../../../services/accounts/password.ts'
import { accountSettings } from '../../../services/accounts/settings.ts'
import { DamagedError, OverloadedError } from '../../../services/kernel/errors.ts'
import { Settings } from '../../../services/kernel/settings.ts'
import { Telemetry } from '../../../services/platform/telemetry.ts'

const CHEAP = { passwordCostLog2: 10, passwordRounds: 1 }

const passwords = (changes: object = {}) =>
  new Passwords({
    settings: { ...new Settings([accountSettings]).view(accountSettings), ...CHEAP, ...changes },
    telemetry: new Telemetry({ level: 'silent', version: 'test' }),
  })

describe('ACC-1: a password', () => {
  test('is told from every other, and no two hashes of it are alike', async () => {
    const own = passwords()
    const [one, two] = [await own.hash('correct horse'), await own.hash('correct horse')]
    expect(one).not.toBe(two)
    expect(one).toMatch(/^\$scrypt\$ln=10,r=8,p=1\$/)
    expect(await own.verify('correct horse', one)).toBe(true)
    expect(await own.verify('correct horse', two)).toBe(true)
    expect(await own.verify('correct hors', one)).toBe(false)
    expect(await own.verify('', one)).toBe(false)
  })

  test('is the same in whatever form its letters are composed', async () => {
    const own = passwords()
    expect(await own.verify('pa\u00dfwort \u00e9', await own.hash('pa\u00dfwort e\u0301'))).toBe(
      true,
    )
  })

  test('is hashed once by a default that takes 32 MiB and three rounds', async () => {
    const { passwordCostLog2, passwordRounds } = new Settings([accountSettings]).view(
      accountSettings,
    )
    const hash = await passwords({ passwordCostLog2, passwordRounds }).hash('correct horse')
    expect(hash).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$/)
  })

  test('is never right where there is none', async () => {
    expect(await passwords().verify('anything', undefined)).toBe(false)
  })

  test('of a cost that has risen since is weak and still good', async () => {
    const before = await passwords().hash('correct horse')
    const dearer = passwords({ passwordCostLog2: 11 })
    expect(await dearer.verify('correct horse', before)).toBe(true)
    expect(dearer.isWeak(before)).toBe(true)
    expect(dearer.isWeak(await dearer.hash('correct horse'))).toBe(false)
    expect(passwords().isWeak(await dearer.hash('correct horse'))).toBe(false)
  })

  test.each([
    ['1234567', 'at least 8'],
    ['👩‍👩‍👧‍👦'.repeat(7), 'at least 8'],
    ['a'.repeat(1_025), 'at most 1024 bytes'],
    ['ADA_lovelace', 'not the handle'],
  ])('is not %j', (password, reason) => {
    expect(() => passwords().check(password, 'ada_lovelace')).toThrow(reason)
  })

  test('that was damaged is said to be', async () => {
    await expect(passwords().verify('x', '$scrypt$ln=1')).rejects.toBeInstanceOf(DamagedError)
  })

  test('waits in a queue of bounded length, in turn', async () => {
    const own = passwords({ passwordsAtOnce: 1, passwordsWaitingMax: 2 })
    const outcomes = await Promise.allSettled(
      ['a', 'b', 'c', 'd', 'e'].map((each) => own.hash(each)),
    )
    expect(outcomes.map(({ status }) => status)).toEqual([
      ...['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'rejected'],
    ])
    expect(outcomes[4]).toMatchObject({ reason: expect.any(OverloadedError) })
    expect(await own.verify('f', await own.hash('f'))).toBe(true)
  })
})
