// Written by `npm run codegen` from schema/*.graphql. Do not edit.
import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { FoundNode } from '../../gateway/graphql/schema.ts';
import type { Account as KnownAccount } from '../../services/accounts/accounts.ts';
import type { RequestContext } from '../../gateway/graphql/context.ts';
export type Maybe<T> = T | null;
export type InputMaybe<T> = Maybe<T>;
export type Omit<T, K extends keyof T> = Pick<T, Exclude<keyof T, K>>;
export type RequireFields<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: NonNullable<T[P]> };
/** All built-in and custom scalars, mapped to their actual values */
export type Scalars = {
  ID: { input: string; output: string; }
  String: { input: string; output: string; }
  Boolean: { input: boolean; output: boolean; }
  Int: { input: number; output: number; }
  Float: { input: number; output: number; }
  /** A moment in ISO 8601, in UTC and with milliseconds: `2026-01-31T12:00:00.000Z`. */
  DateTime: { input: number; output: number; }
  /** A position in a list: opaque, signed, and good only for the list it came from. */
  Cursor: { input: string; output: string; }
};

/** Somebody with a handle. A profile is public; what is behind it depends on who asks. */
export type Account = Node & {
  readonly __typename?: 'Account';
  /** Opaque and the same for ever. */
  readonly id: Scalars['ID']['output'];
  /** The name people type: lower-case letters, digits, `_` and `.`; no two accounts share one. */
  readonly handle: Scalars['String']['output'];
  /** The name people read. */
  readonly displayName: Scalars['String']['output'];
  /** What the owner says of themselves; may be empty. */
  readonly bio: Scalars['String']['output'];
  /** Whether following needs the owner's consent and posts are for followers. */
  readonly isPrivate: Scalars['Boolean']['output'];
  /** When the account was made. */
  readonly createdAt: Scalars['DateTime']['output'];
  /** How many accounts follow this one: exact. */
  readonly followersCount: Scalars['Int']['output'];
  /** How many accounts this one follows: exact. */
  readonly followingCount: Scalars['Int']['output'];
  /** Whether the caller follows this account. */
  readonly viewerFollows: Scalars['Boolean']['output'];
  /** Whether the caller has asked to follow this private account and waits for an answer. */
  readonly viewerRequested: Scalars['Boolean']['output'];
  /** Whether the caller blocks this account. */
  readonly viewerBlocks: Scalars['Boolean']['output'];
  /** Whether the caller mutes this account. */
  readonly viewerMutes: Scalars['Boolean']['output'];
  /** Whether this account follows the caller. */
  readonly followsViewer: Scalars['Boolean']['output'];
  /**
   * Who follows this account, newest first. Null where the caller may not see it: a private account's
   * lists are for its owner and followers, and there are none between accounts of which one blocks
   * the other.
   */
  readonly followers?: Maybe<AccountConnection>;
  /** Whom this account follows, newest first. Null where the caller may not see it, as for `followers`. */
  readonly following?: Maybe<AccountConnection>;
};


/** Somebody with a handle. A profile is public; what is behind it depends on who asks. */
export type AccountFollowersArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['Cursor']['input']>;
};


/** Somebody with a handle. A profile is public; what is behind it depends on who asks. */
export type AccountFollowingArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['Cursor']['input']>;
};

/** A new account. */
export type SignUpInput = {
  /** 2 to 30 letters, digits, `_` and `.`; case and width do not matter. */
  readonly handle: Scalars['String']['input'];
  /** 8 characters or more. */
  readonly password: Scalars['String']['input'];
  /** 50 characters at most; the handle when it is left out. */
  readonly displayName?: InputMaybe<Scalars['String']['input']>;
  /** 160 characters at most. */
  readonly bio?: InputMaybe<Scalars['String']['input']>;
  /** False when it is left out. */
  readonly isPrivate?: InputMaybe<Scalars['Boolean']['input']>;
};

/** Who signs in, and for what. */
export type SignInInput = {
  /** However it is typed. */
  readonly handle: Scalars['String']['input'];
  /** As it was given at sign-up. */
  readonly password: Scalars['String']['input'];
  /** What the tokens are to allow: all that the account may do, when it is left out. */
  readonly scopes?: InputMaybe<ReadonlyArray<Scope>>;
};

/** A refresh token to spend. */
export type RefreshTokensInput = {
  /** The newest of its session. */
  readonly refreshToken: Scalars['String']['input'];
};

/** Which session to end. */
export type SignOutInput = {
  /** Any refresh token of the session; the session of the access token when it is left out. */
  readonly refreshToken?: InputMaybe<Scalars['String']['input']>;
};

/** What to change of a profile. */
export type UpdateProfileInput = {
  /** 50 characters at most. */
  readonly displayName?: InputMaybe<Scalars['String']['input']>;
  /** 160 characters at most; an empty text clears it. */
  readonly bio?: InputMaybe<Scalars['String']['input']>;
  /** Whether following needs the owner's consent. */
  readonly isPrivate?: InputMaybe<Scalars['Boolean']['input']>;
};

/** A pair of tokens and whose they are; without them when the input was refused. */
export type TokensPayload = {
  readonly __typename?: 'TokensPayload';
  /** For `Authorization: Bearer …`; 15 minutes. */
  readonly accessToken?: Maybe<Scalars['String']['output']>;
  /** For `refreshTokens`; keep it secret. */
  readonly refreshToken?: Maybe<Scalars['String']['output']>;
  /** When the access token ends. */
  readonly expiresAt?: Maybe<Scalars['DateTime']['output']>;
  /** Who signed in. */
  readonly account?: Maybe<Account>;
  /** What was refused. */
  readonly userErrors: ReadonlyArray<UserError>;
};

/** The end of a session. */
export type SignOutPayload = {
  readonly __typename?: 'SignOutPayload';
  /** Whether the session is over. */
  readonly signedOut?: Maybe<Scalars['Boolean']['output']>;
  /** What was refused. */
  readonly userErrors: ReadonlyArray<UserError>;
};

/** A profile after its change. */
export type UpdateProfilePayload = {
  readonly __typename?: 'UpdateProfilePayload';
  /** The account as it is now. */
  readonly account?: Maybe<Account>;
  /** What was refused. */
  readonly userErrors: ReadonlyArray<UserError>;
};

/** What a token allows its holder to do. */
export type Scope =
  /** See what the account may see. */
  | 'READ'
  /** Act in the account's name. */
  | 'WRITE'
  /** Work the moderation queue. */
  | 'MODERATE'
  /** Submit articles as a publisher. */
  | 'PUBLISH'
  /** Run the system. */
  | 'ADMIN';

/** Anything with an id of its own that can be asked for again. */
export type Node = {
  /** Opaque and the same for ever. */
  readonly id: Scalars['ID']['output'];
};

/** Where a page of a list lies. */
export type PageInfo = {
  readonly __typename?: 'PageInfo';
  /** Whether a page follows. A short or an empty page is not the end of a list; this is. */
  readonly hasNextPage: Scalars['Boolean']['output'];
  /** Whether a page precedes, as far as this page knows. */
  readonly hasPreviousPage: Scalars['Boolean']['output'];
  /** The position of the first edge. */
  readonly startCursor?: Maybe<Scalars['Cursor']['output']>;
  /** What to hand in as `after` for the next page. */
  readonly endCursor?: Maybe<Scalars['Cursor']['output']>;
};

/** What was wrong with the input of a mutation; nothing was changed. */
export type UserError = {
  readonly __typename?: 'UserError';
  /** Stable, for programs. */
  readonly code: UserErrorCode;
  /** The field of the input at fault, where one is. */
  readonly field?: Maybe<Scalars['String']['output']>;
  /** What to do about it, for people. */
  readonly message: Scalars['String']['output'];
};

/** The ways in which a mutation refuses its input. */
export type UserErrorCode =
  /** It can never work like this. */
  | 'BAD_INPUT'
  /** The caller is not who they say they are. */
  | 'UNAUTHENTICATED'
  /** The caller may not do this. */
  | 'FORBIDDEN'
  /** There is no such thing, or the caller may not know of it. */
  | 'NOT_FOUND'
  /** Somebody else was first. */
  | 'CONFLICT'
  /** It is longer or larger than allowed. */
  | 'TOO_LARGE';

/** Everything that can be read. */
export type Query = {
  readonly __typename?: 'Query';
  /** What has this id, if there is such a thing and the caller may see it. */
  readonly node?: Maybe<Node>;
  /** The same for several ids, in their order; null where there is nothing to see. */
  readonly nodes: ReadonlyArray<Maybe<Node>>;
  /** The account that asks; null for a caller who is not signed in. */
  readonly viewer?: Maybe<Account>;
  /** The account with this handle, however it is typed; null where there is none. */
  readonly account?: Maybe<Account>;
  /** Who asks to follow the caller, newest first. */
  readonly followRequests: AccountConnection;
  /** Whom the caller blocks. */
  readonly blockedAccounts: AccountConnection;
  /** Whom the caller mutes. */
  readonly mutedAccounts: AccountConnection;
};


/** Everything that can be read. */
export type QueryNodeArgs = {
  id: Scalars['ID']['input'];
};


/** Everything that can be read. */
export type QueryNodesArgs = {
  ids: ReadonlyArray<Scalars['ID']['input']>;
};


/** Everything that can be read. */
export type QueryAccountArgs = {
  handle: Scalars['String']['input'];
};


/** Everything that can be read. */
export type QueryFollowRequestsArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['Cursor']['input']>;
};


/** Everything that can be read. */
export type QueryBlockedAccountsArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['Cursor']['input']>;
};


/** Everything that can be read. */
export type QueryMutedAccountsArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['Cursor']['input']>;
};

/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type Mutation = {
  readonly __typename?: 'Mutation';
  /**
   * Makes an account and signs it in. Sent again with the same handle and password it gives the same
   * account, so that a client that got no answer can simply try again.
   */
  readonly signUp: TokensPayload;
  /** Signs in. The answer is the same whether the handle or the password is wrong. */
  readonly signIn: TokensPayload;
  /**
   * Spends a refresh token for a new pair of tokens. A token can be spent once: shown again it ends its
   * session, because somebody else may have a copy.
   */
  readonly refreshTokens: TokensPayload;
  /** Ends the caller's session, or that of a refresh token: its tokens are refused within a second. */
  readonly signOut: SignOutPayload;
  /** Changes what the caller says of themselves; what is left out stays as it is. */
  readonly updateProfile: UpdateProfilePayload;
  /**
   * Follows an account, or asks to where it is private. A request stays open until it is answered, also
   * when the account becomes public; following again is then enough.
   */
  readonly follow: RelationPayload;
  /** Follows an account no more, or takes back a request. */
  readonly unfollow: RelationPayload;
  /** Lets somebody who asked follow the caller. */
  readonly acceptFollowRequest: RelationPayload;
  /** Refuses a request; who asked is not told, and may ask again. */
  readonly refuseFollowRequest: RelationPayload;
  /** Ends somebody's following of the caller, without a block. */
  readonly removeFollower: RelationPayload;
  /** Makes the two invisible to each other; ends follows and requests both ways. */
  readonly block: RelationPayload;
  /** Ends a block; follows do not come back. */
  readonly unblock: RelationPayload;
  /** Takes an account's posts out of the caller's feed; nobody else can tell. */
  readonly mute: RelationPayload;
  /** Ends a mute. */
  readonly unmute: RelationPayload;
};


/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type MutationSignUpArgs = {
  input: SignUpInput;
};


/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type MutationSignInArgs = {
  input: SignInInput;
};


/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type MutationRefreshTokensArgs = {
  input: RefreshTokensInput;
};


/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type MutationSignOutArgs = {
  input?: SignOutInput;
};


/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type MutationUpdateProfileArgs = {
  input: UpdateProfileInput;
};


/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type MutationFollowArgs = {
  input: RelationInput;
};


/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type MutationUnfollowArgs = {
  input: RelationInput;
};


/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type MutationAcceptFollowRequestArgs = {
  input: RelationInput;
};


/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type MutationRefuseFollowRequestArgs = {
  input: RelationInput;
};


/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type MutationRemoveFollowerArgs = {
  input: RelationInput;
};


/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type MutationBlockArgs = {
  input: RelationInput;
};


/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type MutationUnblockArgs = {
  input: RelationInput;
};


/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type MutationMuteArgs = {
  input: RelationInput;
};


/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type MutationUnmuteArgs = {
  input: RelationInput;
};

/** The other account, in a change of how the caller stands to it. */
export type RelationInput = {
  /** Its id. */
  readonly accountId: Scalars['ID']['input'];
};

/** How the caller stands to another account after a change. The same change again changes nothing. */
export type RelationPayload = {
  readonly __typename?: 'RelationPayload';
  /** The other account. */
  readonly account?: Maybe<Account>;
  /** What was refused. */
  readonly userErrors: ReadonlyArray<UserError>;
};

/** A page of accounts. */
export type AccountConnection = {
  readonly __typename?: 'AccountConnection';
  /** Those on this page. */
  readonly edges: ReadonlyArray<AccountEdge>;
  /** Where the page lies. */
  readonly pageInfo: PageInfo;
};

/** An account on a page. */
export type AccountEdge = {
  readonly __typename?: 'AccountEdge';
  /** The account. */
  readonly node: Account;
  /** Its position in the list. */
  readonly cursor: Scalars['Cursor']['output'];
};



export type ResolverTypeWrapper<T> = Promise<T> | T;


export type ResolverWithResolve<TResult, TParent, TContext, TArgs> = {
  resolve: ResolverFn<TResult, TParent, TContext, TArgs>;
};
export type Resolver<TResult, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> = ResolverFn<TResult, TParent, TContext, TArgs> | ResolverWithResolve<TResult, TParent, TContext, TArgs>;

export type ResolverFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => Promise<TResult> | TResult;

export type SubscriptionSubscribeFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => AsyncIterable<TResult> | Promise<AsyncIterable<TResult>>;

export type SubscriptionResolveFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => TResult | Promise<TResult>;

export interface SubscriptionSubscriberObject<TResult, TKey extends string, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<{ [key in TKey]: TResult }, TParent, TContext, TArgs>;
  resolve?: SubscriptionResolveFn<TResult, { [key in TKey]: TResult }, TContext, TArgs>;
}

export interface SubscriptionResolverObject<TResult, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<any, TParent, TContext, TArgs>;
  resolve: SubscriptionResolveFn<TResult, any, TContext, TArgs>;
}

export type SubscriptionObject<TResult, TKey extends string, TParent, TContext, TArgs> =
  | SubscriptionSubscriberObject<TResult, TKey, TParent, TContext, TArgs>
  | SubscriptionResolverObject<TResult, TParent, TContext, TArgs>;

export type SubscriptionResolver<TResult, TKey extends string, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> =
  | ((...args: any[]) => SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>)
  | SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>;

export type TypeResolveFn<TTypes, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>> = (
  parent: TParent,
  context: TContext,
  info: GraphQLResolveInfo
) => Maybe<TTypes> | Promise<Maybe<TTypes>>;

export type IsTypeOfResolverFn<T = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>> = (obj: T, context: TContext, info: GraphQLResolveInfo) => boolean | Promise<boolean>;

export type NextResolverFn<T> = () => Promise<T>;

export type DirectiveResolverFn<TResult = Record<PropertyKey, never>, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> = (
  next: NextResolverFn<TResult>,
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => TResult | Promise<TResult>;





/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = {
  Account: ResolverTypeWrapper<KnownAccount>;
  ID: ResolverTypeWrapper<Scalars['ID']['output']>;
  String: ResolverTypeWrapper<Scalars['String']['output']>;
  Boolean: ResolverTypeWrapper<Scalars['Boolean']['output']>;
  Int: ResolverTypeWrapper<Scalars['Int']['output']>;
  SignUpInput: SignUpInput;
  SignInInput: SignInInput;
  RefreshTokensInput: RefreshTokensInput;
  SignOutInput: SignOutInput;
  UpdateProfileInput: UpdateProfileInput;
  TokensPayload: ResolverTypeWrapper<Omit<TokensPayload, 'account'> & { account?: Maybe<ResolversTypes['Account']> }>;
  SignOutPayload: ResolverTypeWrapper<SignOutPayload>;
  UpdateProfilePayload: ResolverTypeWrapper<Omit<UpdateProfilePayload, 'account'> & { account?: Maybe<ResolversTypes['Account']> }>;
  Scope: Scope;
  DateTime: ResolverTypeWrapper<Scalars['DateTime']['output']>;
  Cursor: ResolverTypeWrapper<Scalars['Cursor']['output']>;
  Node: ResolverTypeWrapper<FoundNode>;
  PageInfo: ResolverTypeWrapper<PageInfo>;
  UserError: ResolverTypeWrapper<UserError>;
  UserErrorCode: UserErrorCode;
  Query: ResolverTypeWrapper<Record<PropertyKey, never>>;
  Mutation: ResolverTypeWrapper<Record<PropertyKey, never>>;
  RelationInput: RelationInput;
  RelationPayload: ResolverTypeWrapper<Omit<RelationPayload, 'account'> & { account?: Maybe<ResolversTypes['Account']> }>;
  AccountConnection: ResolverTypeWrapper<Omit<AccountConnection, 'edges'> & { edges: ReadonlyArray<ResolversTypes['AccountEdge']> }>;
  AccountEdge: ResolverTypeWrapper<Omit<AccountEdge, 'node'> & { node: ResolversTypes['Account'] }>;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  Account: KnownAccount;
  ID: Scalars['ID']['output'];
  String: Scalars['String']['output'];
  Boolean: Scalars['Boolean']['output'];
  Int: Scalars['Int']['output'];
  SignUpInput: SignUpInput;
  SignInInput: SignInInput;
  RefreshTokensInput: RefreshTokensInput;
  SignOutInput: SignOutInput;
  UpdateProfileInput: UpdateProfileInput;
  TokensPayload: Omit<TokensPayload, 'account'> & { account?: Maybe<ResolversParentTypes['Account']> };
  SignOutPayload: SignOutPayload;
  UpdateProfilePayload: Omit<UpdateProfilePayload, 'account'> & { account?: Maybe<ResolversParentTypes['Account']> };
  DateTime: Scalars['DateTime']['output'];
  Cursor: Scalars['Cursor']['output'];
  Node: FoundNode;
  PageInfo: PageInfo;
  UserError: UserError;
  Query: Record<PropertyKey, never>;
  Mutation: Record<PropertyKey, never>;
  RelationInput: RelationInput;
  RelationPayload: Omit<RelationPayload, 'account'> & { account?: Maybe<ResolversParentTypes['Account']> };
  AccountConnection: Omit<AccountConnection, 'edges'> & { edges: ReadonlyArray<ResolversParentTypes['AccountEdge']> };
  AccountEdge: Omit<AccountEdge, 'node'> & { node: ResolversParentTypes['Account'] };
};

export type NeedsDirectiveArgs = {
  scope: Scope;
};

export type NeedsDirectiveResolver<Result, Parent, ContextType = RequestContext, Args = NeedsDirectiveArgs> = DirectiveResolverFn<Result, Parent, ContextType, Args>;

export type PublicDirectiveArgs = { };

export type PublicDirectiveResolver<Result, Parent, ContextType = RequestContext, Args = PublicDirectiveArgs> = DirectiveResolverFn<Result, Parent, ContextType, Args>;

export type AccountResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Account'] = ResolversParentTypes['Account']> = {
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  handle?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  displayName?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  bio?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  isPrivate?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  followersCount?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  followingCount?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  viewerFollows?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  viewerRequested?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  viewerBlocks?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  viewerMutes?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  followsViewer?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  followers?: Resolver<Maybe<ResolversTypes['AccountConnection']>, ParentType, ContextType, RequireFields<AccountFollowersArgs, 'first'>>;
  following?: Resolver<Maybe<ResolversTypes['AccountConnection']>, ParentType, ContextType, RequireFields<AccountFollowingArgs, 'first'>>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type TokensPayloadResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['TokensPayload'] = ResolversParentTypes['TokensPayload']> = {
  accessToken?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  refreshToken?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  expiresAt?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  account?: Resolver<Maybe<ResolversTypes['Account']>, ParentType, ContextType>;
  userErrors?: Resolver<ReadonlyArray<ResolversTypes['UserError']>, ParentType, ContextType>;
};

export type SignOutPayloadResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['SignOutPayload'] = ResolversParentTypes['SignOutPayload']> = {
  signedOut?: Resolver<Maybe<ResolversTypes['Boolean']>, ParentType, ContextType>;
  userErrors?: Resolver<ReadonlyArray<ResolversTypes['UserError']>, ParentType, ContextType>;
};

export type UpdateProfilePayloadResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['UpdateProfilePayload'] = ResolversParentTypes['UpdateProfilePayload']> = {
  account?: Resolver<Maybe<ResolversTypes['Account']>, ParentType, ContextType>;
  userErrors?: Resolver<ReadonlyArray<ResolversTypes['UserError']>, ParentType, ContextType>;
};

export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}

export interface CursorScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['Cursor'], any> {
  name: 'Cursor';
}

export type NodeResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Node'] = ResolversParentTypes['Node']> = {
  __resolveType: TypeResolveFn<'Account', ParentType, ContextType>;
};

export type PageInfoResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['PageInfo'] = ResolversParentTypes['PageInfo']> = {
  hasNextPage?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  hasPreviousPage?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  startCursor?: Resolver<Maybe<ResolversTypes['Cursor']>, ParentType, ContextType>;
  endCursor?: Resolver<Maybe<ResolversTypes['Cursor']>, ParentType, ContextType>;
};

export type UserErrorResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['UserError'] = ResolversParentTypes['UserError']> = {
  code?: Resolver<ResolversTypes['UserErrorCode'], ParentType, ContextType>;
  field?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  message?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type QueryResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = {
  node?: Resolver<Maybe<ResolversTypes['Node']>, ParentType, ContextType, RequireFields<QueryNodeArgs, 'id'>>;
  nodes?: Resolver<ReadonlyArray<Maybe<ResolversTypes['Node']>>, ParentType, ContextType, RequireFields<QueryNodesArgs, 'ids'>>;
  viewer?: Resolver<Maybe<ResolversTypes['Account']>, ParentType, ContextType>;
  account?: Resolver<Maybe<ResolversTypes['Account']>, ParentType, ContextType, RequireFields<QueryAccountArgs, 'handle'>>;
  followRequests?: Resolver<ResolversTypes['AccountConnection'], ParentType, ContextType, RequireFields<QueryFollowRequestsArgs, 'first'>>;
  blockedAccounts?: Resolver<ResolversTypes['AccountConnection'], ParentType, ContextType, RequireFields<QueryBlockedAccountsArgs, 'first'>>;
  mutedAccounts?: Resolver<ResolversTypes['AccountConnection'], ParentType, ContextType, RequireFields<QueryMutedAccountsArgs, 'first'>>;
};

export type MutationResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation']> = {
  signUp?: Resolver<ResolversTypes['TokensPayload'], ParentType, ContextType, RequireFields<MutationSignUpArgs, 'input'>>;
  signIn?: Resolver<ResolversTypes['TokensPayload'], ParentType, ContextType, RequireFields<MutationSignInArgs, 'input'>>;
  refreshTokens?: Resolver<ResolversTypes['TokensPayload'], ParentType, ContextType, RequireFields<MutationRefreshTokensArgs, 'input'>>;
  signOut?: Resolver<ResolversTypes['SignOutPayload'], ParentType, ContextType, RequireFields<MutationSignOutArgs, 'input'>>;
  updateProfile?: Resolver<ResolversTypes['UpdateProfilePayload'], ParentType, ContextType, RequireFields<MutationUpdateProfileArgs, 'input'>>;
  follow?: Resolver<ResolversTypes['RelationPayload'], ParentType, ContextType, RequireFields<MutationFollowArgs, 'input'>>;
  unfollow?: Resolver<ResolversTypes['RelationPayload'], ParentType, ContextType, RequireFields<MutationUnfollowArgs, 'input'>>;
  acceptFollowRequest?: Resolver<ResolversTypes['RelationPayload'], ParentType, ContextType, RequireFields<MutationAcceptFollowRequestArgs, 'input'>>;
  refuseFollowRequest?: Resolver<ResolversTypes['RelationPayload'], ParentType, ContextType, RequireFields<MutationRefuseFollowRequestArgs, 'input'>>;
  removeFollower?: Resolver<ResolversTypes['RelationPayload'], ParentType, ContextType, RequireFields<MutationRemoveFollowerArgs, 'input'>>;
  block?: Resolver<ResolversTypes['RelationPayload'], ParentType, ContextType, RequireFields<MutationBlockArgs, 'input'>>;
  unblock?: Resolver<ResolversTypes['RelationPayload'], ParentType, ContextType, RequireFields<MutationUnblockArgs, 'input'>>;
  mute?: Resolver<ResolversTypes['RelationPayload'], ParentType, ContextType, RequireFields<MutationMuteArgs, 'input'>>;
  unmute?: Resolver<ResolversTypes['RelationPayload'], ParentType, ContextType, RequireFields<MutationUnmuteArgs, 'input'>>;
};

export type RelationPayloadResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['RelationPayload'] = ResolversParentTypes['RelationPayload']> = {
  account?: Resolver<Maybe<ResolversTypes['Account']>, ParentType, ContextType>;
  userErrors?: Resolver<ReadonlyArray<ResolversTypes['UserError']>, ParentType, ContextType>;
};

export type AccountConnectionResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['AccountConnection'] = ResolversParentTypes['AccountConnection']> = {
  edges?: Resolver<ReadonlyArray<ResolversTypes['AccountEdge']>, ParentType, ContextType>;
  pageInfo?: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
};

export type AccountEdgeResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['AccountEdge'] = ResolversParentTypes['AccountEdge']> = {
  node?: Resolver<ResolversTypes['Account'], ParentType, ContextType>;
  cursor?: Resolver<ResolversTypes['Cursor'], ParentType, ContextType>;
};

export type Resolvers<ContextType = RequestContext> = {
  Account?: AccountResolvers<ContextType>;
  TokensPayload?: TokensPayloadResolvers<ContextType>;
  SignOutPayload?: SignOutPayloadResolvers<ContextType>;
  UpdateProfilePayload?: UpdateProfilePayloadResolvers<ContextType>;
  DateTime?: GraphQLScalarType;
  Cursor?: GraphQLScalarType;
  Node?: NodeResolvers<ContextType>;
  PageInfo?: PageInfoResolvers<ContextType>;
  UserError?: UserErrorResolvers<ContextType>;
  Query?: QueryResolvers<ContextType>;
  Mutation?: MutationResolvers<ContextType>;
  RelationPayload?: RelationPayloadResolvers<ContextType>;
  AccountConnection?: AccountConnectionResolvers<ContextType>;
  AccountEdge?: AccountEdgeResolvers<ContextType>;
};

export type DirectiveResolvers<ContextType = RequestContext> = {
  needs?: NeedsDirectiveResolver<any, any, ContextType>;
  public?: PublicDirectiveResolver<any, any, ContextType>;
};

