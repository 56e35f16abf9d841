/**
 * A secret that all processes share and nobody had to configure: the first that needs it makes it
 * up, and it stays. It is kept as a claim (claims.ts), which is written once and by one process
 * only, however many start at the same time.
 */
import { randomBytes } from 'node:crypto'
import { DamagedError } from '../kernel/errors.ts'
import type { ClaimEngines } from './claims.ts'
import { claims } from './generated/tables.ts'

const SECRET_BYTES = 32
/** A claim names an owner; this one is everybody's. */
const NO_OWNER = 0n

export const serverSecret = async (
  { tables, clock }: ClaimEngines,
  name: string,
): Promise<Buffer> => {
  const secret = randomBytes(SECRET_BYTES).toString('hex')
  const outcome = await tables.insertIfAbsent(claims, {
    ...{ kind: 'server secret', name, owner: NO_OWNER },
    ...{ draftHash: secret, claimedAt: clock.now() },
  })
  const kept = outcome.applied ? secret : outcome.current?.draftHash
  if (kept?.length !== SECRET_BYTES * 2) throw new DamagedError(`the secret ${name} is damaged`)
  return Buffer.from(kept, 'hex')
}
