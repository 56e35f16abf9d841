import { DomainError } from '../../services/kernel/errors.ts'

export type Limit = 'tokens' | 'depth' | 'fields' | 'aliases' | 'cost' | 'operations on the socket'

export interface LimitDetails {
  readonly max: number
  readonly found?: number
}

/** A document asks for more than a setting allows; the client is told which and how much. */
export class LimitError extends DomainError {
  override readonly name = 'LimitError'
  readonly code = 'TOO_LARGE'
  /** For the client, beside the code. */
  readonly details: LimitDetails & { readonly limit: Limit }

  constructor(limit: Limit, { max, found }: LimitDetails) {
    const number = found === undefined ? 'too many' : String(found)
    super(`the limit of ${limit} is ${max}, this has ${number}: ask for less`)
    this.details = { limit, max, ...(found === undefined ? {} : { found }) }
  }
}
