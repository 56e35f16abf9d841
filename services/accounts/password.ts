/**
 * Passwords: hashed by scrypt, which costs memory as well as time, on the thread pool.
 *
 * The parameters are settings and are kept with each hash, so that they can rise: a hash made with
 * less is made again when its owner next signs in. Few are hashed at a time and few may wait; more
 * are refused, or a burst of sign-ins would take the machine's memory and the threads that check
 * tokens.
 */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { BadInputError, DamagedError, OverloadedError } from '../kernel/errors.ts'
import { countGraphemes } from '../kernel/graphemes.ts'
import type { Values } from '../kernel/settings.ts'
import type { Telemetry } from '../platform/telemetry.ts'
import type { accountSettings } from './settings.ts'

const BLOCK_SIZE = 8
const SALT_BYTES = 16
const HASH_BYTES = 32
const PASSWORD_BYTES_MAX = 1_024

interface Cost {
  readonly log2: number
  readonly blockSize: number
  readonly rounds: number
}

interface StoredPassword extends Cost {
  readonly salt: Buffer
  readonly hash: Buffer
}

export interface PasswordDependencies {
  readonly settings: Values<typeof accountSettings>
  readonly telemetry: Telemetry
}

export class Passwords {
  readonly #settings: PasswordDependencies['settings']
  readonly #waiting: (() => void)[] = []
  readonly #seconds
  #running = 0

  constructor({ settings, telemetry }: PasswordDependencies) {
    this.#settings = settings
    this.#seconds = telemetry.duration(
      'tributary_accounts_password_seconds',
      'time to hash a password, its wait included',
    )
    telemetry.gauge('tributary_accounts_passwords_waiting', 'passwords waiting to be hashed', {
      collect: (gauge) => gauge.set(this.#waiting.length),
    })
  }

  /** Refuses a new password that is too short, too long, or the handle itself. */
  check(password: string, handle: string): void {
    const field = 'password'
    const { passwordLengthMin } = this.#settings
    if (countGraphemes(password, passwordLengthMin) < passwordLengthMin) {
      throw new BadInputError(`a password has at least ${passwordLengthMin} characters`, { field })
    }
    if (Buffer.byteLength(password) > PASSWORD_BYTES_MAX) {
      throw new BadInputError(`a password has at most ${PASSWORD_BYTES_MAX} bytes`, { field })
    }
    if (password.normalize('NFKC').toLowerCase() === handle) {
      throw new BadInputError('a password is not the handle', { field })
    }
  }

  async hash(password: string): Promise<string> {
    const cost = this.#cost()
    const salt = randomBytes(SALT_BYTES)
    return format({ ...cost, salt, hash: await this.#derive(password, salt, cost) })
  }

  /** Whether it is the password; takes as long when there is none to compare with. */
  async verify(password: string, stored: string | undefined): Promise<boolean> {
    const known = stored === undefined ? undefined : parse(stored)
    const { salt, ...cost } = known ?? { ...this.#cost(), salt: randomBytes(SALT_BYTES) }
    const hash = await this.#derive(password, salt, cost)
    return timingSafeEqual(hash, known?.hash ?? randomBytes(HASH_BYTES)) && known !== undefined
  }

  /** Whether a hash cost less than one made now. */
  isWeak(stored: string): boolean {
    return work(parse(stored)) < work(this.#cost())
  }

  #cost(): Cost {
    const { passwordCostLog2: log2, passwordRounds: rounds } = this.#settings
    return { log2, rounds, blockSize: BLOCK_SIZE }
  }

  async #derive(password: string, salt: Buffer, cost: Cost): Promise<Buffer> {
    const stop = this.#seconds.startTimer()
    await this.#turn()
    try {
      return await derive(password.normalize('NFKC'), salt, cost)
    } finally {
      stop()
      this.#pass()
    }
  }

  /** Resolves when it is the caller's turn, who must `#pass` it on. */
  async #turn(): Promise<void> {
    const { passwordsAtOnce, passwordsWaitingMax } = this.#settings
    if (this.#running < passwordsAtOnce) {
      this.#running += 1
      return
    }
    if (this.#waiting.length >= passwordsWaitingMax) {
      throw new OverloadedError('too many people are signing in: try again in a few seconds')
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #pass(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#running -= 1
  }
}

const work = ({ log2, blockSize, rounds }: Cost): number => 2 ** log2 * blockSize * rounds

const derive = (password: string, salt: Buffer, cost: Cost): Promise<Buffer> => {
  const { log2, blockSize, rounds } = cost
  const options: ScryptOptions = { N: 2 ** log2, r: blockSize, p: rounds }
  const maxmem = 256 * 2 ** log2 * blockSize
  return new Promise((resolve, reject) => {
    scrypt(password, salt, HASH_BYTES, { ...options, maxmem }, (error, hash) => {
      if (error) reject(error)
      else resolve(hash)
    })
  })
}

const format = ({ log2, blockSize, rounds, salt, hash }: StoredPassword): string =>
  `$scrypt$ln=${log2},r=${blockSize},p=${rounds}$${salt.toString('base64url')}$${hash.toString('base64url')}`

const STORED = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([\w-]+)\$([\w-]{43})$/

const parse = (stored: string): StoredPassword => {
  const [, log2, blockSize, rounds, salt = '', hash = ''] = STORED.exec(stored) ?? []
  if (hash === '') throw new DamagedError('a stored password cannot be read')
  return {
    log2: Number(log2),
    blockSize: Number(blockSize),
    rounds: Number(rounds),
    salt: Buffer.from(salt, 'base64url'),
    hash: Buffer.from(hash, 'base64url'),
  }
}
