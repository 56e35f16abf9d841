/** The settings of accounts, sessions and tokens. */
import { declare, int, text } from '../kernel/settings.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

export const accountSettings = declare('accounts', {
  issuer: text({
    default: 'tributary',
    pattern: /^\S{1,200}$/,
    shape: 'one word, best the address of this service',
    about: 'who issues access tokens (their `iss`)',
  }),
  audience: text({
    default: 'tributary',
    pattern: /^\S{1,200}$/,
    shape: 'one word',
    about: 'whom access tokens are for (their `aud`); others are refused',
  }),
  accessMs: int({
    default: 15 * MINUTE_MS,
    min: 10_000,
    max: DAY_MS,
    unit: 'ms',
    about: 'how long an access token is good',
  }),
  refreshMs: int({
    default: 30 * DAY_MS,
    min: MINUTE_MS,
    max: 365 * DAY_MS,
    unit: 'ms',
    about: 'how long a refresh token is good when it is not used',
  }),
  sessionMs: int({
    default: 365 * DAY_MS,
    min: MINUTE_MS,
    max: 3_650 * DAY_MS,
    unit: 'ms',
    about: 'how long a session lasts at most, however often it is refreshed',
  }),
  refreshGraceMs: int({
    default: 0,
    min: 0,
    max: MINUTE_MS,
    unit: 'ms',
    live: true,
    about: 'how long a spent refresh token is answered with its successor, not taken for theft',
  }),
  sessionsMax: int({
    default: 32,
    min: 1,
    max: 256,
    about: 'sessions of one account; one more ends the longest unused',
  }),
  sessionStaleMs: int({
    default: 900,
    min: 0,
    max: 1_000,
    unit: 'ms',
    about: 'how old what a process knows of a session may be when it admits a request',
  }),
  sessionsHeldMax: int({
    default: 100_000,
    min: 100,
    max: 10_000_000,
    about: 'sessions and checked tokens a process remembers',
  }),
  keyLifeMs: int({
    default: 90 * DAY_MS,
    min: 60 * MINUTE_MS,
    max: 3_650 * DAY_MS,
    unit: 'ms',
    about: 'how long a key signs before the next one is made',
  }),
  keyLeadMs: int({
    default: 10 * MINUTE_MS,
    min: 0,
    max: DAY_MS,
    unit: 'ms',
    about: 'how long a new key is published before it signs',
  }),
  keyRereadMs: int({
    default: MINUTE_MS,
    min: 1_000,
    max: 60 * MINUTE_MS,
    unit: 'ms',
    about: 'how often a process looks for new keys',
  }),
  passwordLengthMin: int({
    default: 8,
    min: 1,
    max: 64,
    about: 'fewest characters of a new password',
  }),
  passwordCostLog2: int({
    default: 15,
    min: 10,
    max: 20,
    about: 'cost of hashing a password with scrypt, as a power of two; 15 takes 32 MiB',
  }),
  passwordRounds: int({
    default: 3,
    min: 1,
    max: 16,
    about: 'rounds of hashing a password (p of scrypt)',
  }),
  passwordsAtOnce: int({
    default: 2,
    min: 1,
    max: 64,
    about: 'passwords hashed at a time, each on a thread of its own',
  }),
  passwordsWaitingMax: int({
    default: 64,
    min: 0,
    max: 10_000,
    about: 'passwords waiting to be hashed before more are refused',
  }),
  displayNameMax: int({
    default: 50,
    min: 1,
    max: 500,
    live: true,
    about: 'characters of a display name, as people count them',
  }),
  bioMax: int({
    default: 160,
    min: 0,
    max: 5_000,
    live: true,
    about: 'characters of a bio, as people count them',
  }),
  claimTakeoverMs: int({
    default: 5 * MINUTE_MS,
    min: 2 * MINUTE_MS,
    max: DAY_MS,
    unit: 'ms',
    about: 'after how long a handle whose sign-up never finished is free again',
  }),
})
