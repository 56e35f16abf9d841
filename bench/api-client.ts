/** One client of the API, for what a bench prepares before it measures. */
import { graphqlRequest, HttpLoad } from './http-load.ts'

export interface SignedUp {
  readonly id: string
  readonly token: string
}

const SIGN_UP = `mutation ($input: SignUpInput!) {
  signUp(input: $input) { accessToken account { id } userErrors { message } }
}`

export class ApiClient implements Disposable {
  readonly #load: HttpLoad

  constructor(address: string) {
    this.#load = new HttpLoad(address, 1)
  }

  async ask<Data>(query: string, variables: object, token?: string): Promise<Data> {
    const body = await this.#load.ask(graphqlRequest({ query, variables }, token))
    return (JSON.parse(body) as { readonly data: Data }).data
  }

  async signUp(handle: string): Promise<SignedUp> {
    interface Answer {
      readonly signUp: { readonly accessToken: string; readonly account: { readonly id: string } }
    }
    const input = { handle, password: `the password of ${handle}` }
    const { signUp } = await this.ask<Answer>(SIGN_UP, { input })
    return { id: signUp.account.id, token: signUp.accessToken }
  }

  [Symbol.dispose](): void {
    this.#load[Symbol.dispose]()
  }
}
