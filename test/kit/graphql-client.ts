/** A client of the API, over real HTTP. */
import type { GraphQLFormattedError } from 'graphql'

/** Whoever has a token. */
export interface Asker {
  readonly accessToken: string
}

export interface GraphqlAnswer<Data> {
  readonly status: number
  readonly headers: Headers
  readonly data: Data | null | undefined
  readonly errors: readonly GraphQLFormattedError[]
  /** The codes of the errors, in order. */
  readonly codes: readonly unknown[]
}

interface Body<Data> {
  readonly data?: Data | null
  readonly errors?: readonly GraphQLFormattedError[]
}

export class GraphqlClient {
  readonly #url: string

  constructor(address: string) {
    this.#url = `${address}/graphql`
  }

  ask<Data = unknown>(
    who: Asker | undefined,
    query: string,
    variables: Readonly<Record<string, unknown>> = {},
  ): Promise<GraphqlAnswer<Data>> {
    return this.send<Data>({
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(who ? { authorization: `Bearer ${who.accessToken}` } : {}),
      },
      body: JSON.stringify({ query, variables }),
    })
  }

  /** A request as it is, right or wrong. */
  async send<Data = unknown>(init: RequestInit, search = ''): Promise<GraphqlAnswer<Data>> {
    const response = await fetch(`${this.#url}${search}`, init)
    const text = await response.text()
    const { data, errors = [] } = (text === '' ? {} : JSON.parse(text)) as Body<Data>
    return {
      status: response.status,
      headers: response.headers,
      data,
      errors,
      codes: errors.map(({ extensions }) => extensions?.['code']),
    }
  }
}
