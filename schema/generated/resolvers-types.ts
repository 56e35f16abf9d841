// Written by `npm run codegen` from schema/*.graphql. Do not edit.
import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { FoundNode } from '../../gateway/graphql/schema.ts';
import type { AccountView, PostView } from '../../gateway/views.ts';
import type { Revision, Mention as KnownMention } from '../../services/post/post.ts';
import type { SavedEdge } from '../../gateway/resolvers/engagement.ts';
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
  /** How many posts the account has, replies and reshares among them. */
  readonly postsCount: Scalars['Int']['output'];
  /** Its posts that the caller may see, the newest first, replies and reshares among them. */
  readonly posts: PostConnection;
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


/** Somebody with a handle. A profile is public; what is behind it depends on who asks. */
export type AccountPostsArgs = {
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
  /** What the caller has saved and may still see, newest save first. Nobody else can see it. */
  readonly savedPosts: SavedPostConnection;
  /** Who asks to follow the caller, newest first. */
  readonly followRequests: AccountConnection;
  /** Whom the caller blocks. */
  readonly blockedAccounts: AccountConnection;
  /** Whom the caller mutes. */
  readonly mutedAccounts: AccountConnection;
  /** The post with this id; null if there is none, or none the caller may see. */
  readonly post?: Maybe<Post>;
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
export type QuerySavedPostsArgs = {
  first?: Scalars['Int']['input'];
  after?: InputMaybe<Scalars['Cursor']['input']>;
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


/** Everything that can be read. */
export type QueryPostArgs = {
  id: Scalars['ID']['input'];
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
  /** Likes a post that the caller can see. Liked again it stays liked. */
  readonly like: EngagementPayload;
  /** Takes a like back, also of a post that can no longer be seen. */
  readonly unlike: EngagementPayload;
  /** Keeps a post in the caller's saved posts. */
  readonly save: EngagementPayload;
  /** Takes a post out of the caller's saved posts, also one that can no longer be seen. */
  readonly unsave: EngagementPayload;
  /** Keeps a post out of the caller's feeds; asked for by its id it is still shown. */
  readonly hide: EngagementPayload;
  /** Lets a hidden post into the caller's feeds again. */
  readonly unhide: EngagementPayload;
  /** Tells the moderators of a post; once more with other words replaces them. The author is not told. */
  readonly report: EngagementPayload;
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
  /**
   * Makes a post. Sent again with the same idempotency key it gives the same post, so that a client that
   * got no answer can simply try again.
   */
  readonly createPost: PostPayload;
  /** Changes what the caller's post says; what it said before is kept. */
  readonly editPost: PostPayload;
  /** Deletes the caller's post for good. A post that is deleted already stays so. */
  readonly deletePost: DeletePostPayload;
  /** Changes who may see the caller's post. */
  readonly changeVisibility: PostPayload;
  /**
   * Passes a post on without words; with words, it is `createPost` with `reshareOfId`. Again it gives the
   * same reshare. Of what is itself a reshare the original is passed on.
   */
  readonly reshare: PostPayload;
  /** Takes the caller's reshare of a post back, if there is one. */
  readonly unreshare: UnresharePayload;
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
export type MutationLikeArgs = {
  input: EngagementInput;
};


/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type MutationUnlikeArgs = {
  input: EngagementInput;
};


/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type MutationSaveArgs = {
  input: EngagementInput;
};


/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type MutationUnsaveArgs = {
  input: EngagementInput;
};


/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type MutationHideArgs = {
  input: EngagementInput;
};


/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type MutationUnhideArgs = {
  input: EngagementInput;
};


/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type MutationReportArgs = {
  input: ReportInput;
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


/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type MutationCreatePostArgs = {
  input: CreatePostInput;
};


/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type MutationEditPostArgs = {
  input: EditPostInput;
};


/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type MutationDeletePostArgs = {
  input: DeletePostInput;
};


/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type MutationChangeVisibilityArgs = {
  input: ChangeVisibilityInput;
};


/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type MutationReshareArgs = {
  input: ReshareInput;
};


/** Everything that can be changed. Each takes one input and says what it refused in `userErrors`. */
export type MutationUnreshareArgs = {
  input: UnreshareInput;
};

/** Which post. */
export type EngagementInput = {
  /** Of the post. */
  readonly postId: Scalars['ID']['input'];
};

/** A report of a post. */
export type ReportInput = {
  /** Of the post. */
  readonly postId: Scalars['ID']['input'];
  /** What is wrong with it. */
  readonly reason: ReportReason;
  /** More about it, 500 characters at most. */
  readonly note?: InputMaybe<Scalars['String']['input']>;
};

/** What can be wrong with a post. */
export type ReportReason =
  /** Unwanted advertising, or the same again and again. */
  | 'SPAM'
  /** It bullies or threatens somebody. */
  | 'HARASSMENT'
  /** It attacks people for what they are. */
  | 'HATE'
  /** It shows or calls for violence. */
  | 'VIOLENCE'
  /** It shows people naked or worse. */
  | 'NUDITY'
  /** It is untrue in a way that does harm. */
  | 'FALSE_INFORMATION'
  /** It breaks a law. */
  | 'ILLEGAL'
  /** Something else, which the note says. */
  | 'OTHER';

/** A post after something was done with it. */
export type EngagementPayload = {
  readonly __typename?: 'EngagementPayload';
  /** The post as it is now; null when the caller cannot see it. */
  readonly post?: Maybe<Post>;
  /** What was refused. */
  readonly userErrors: ReadonlyArray<UserError>;
};

/** A page of saved posts. */
export type SavedPostConnection = {
  readonly __typename?: 'SavedPostConnection';
  /** The posts of this page; those that can no longer be seen are left out. */
  readonly edges: ReadonlyArray<SavedPostEdge>;
  /** Where it lies. */
  readonly pageInfo: PageInfo;
};

/** A saved post and its place in the list. */
export type SavedPostEdge = {
  readonly __typename?: 'SavedPostEdge';
  /** The post. */
  readonly node: Post;
  /** When it was saved. */
  readonly savedAt: Scalars['DateTime']['output'];
  /** Its position. */
  readonly cursor: Scalars['Cursor']['output'];
};

/** The other account, in a change of how the caller stands to it. */
export type RelationInput = {
  /** Its id. */
  readonly accountId: Scalars['ID']['input'];
};

/** How the caller stands to another account after a change. The same change again changes nothing. */
export type RelationPayload = {
  readonly __typename?: 'RelationPayload';
  /** The other account; null where it blocks the caller, and so is not there for them. */
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

/** Who may see a post, besides its author. Of a private account it is never more than its followers. */
export type Visibility =
  /** Everybody. */
  | 'PUBLIC'
  /** Those who follow the author. */
  | 'FOLLOWERS'
  /** Nobody else. */
  | 'PRIVATE';

/** Something somebody said, passed on, or said about what they pass on. */
export type Post = Node & {
  readonly __typename?: 'Post';
  /** Opaque and the same for ever. */
  readonly id: Scalars['ID']['output'];
  /** Whose it is. */
  readonly author: Account;
  /** What it says; empty for a reshare, and where there is only a link. */
  readonly text: Scalars['String']['output'];
  /** When it was written. */
  readonly createdAt: Scalars['DateTime']['output'];
  /** When it was last edited; null if it never was. */
  readonly editedAt?: Maybe<Scalars['DateTime']['output']>;
  /** What it said before each of its edits, the newest first. */
  readonly history: ReadonlyArray<PostRevision>;
  /** Who may see it. */
  readonly visibility: Visibility;
  /** The page it points to. */
  readonly link?: Maybe<Link>;
  /** The accounts its text names. */
  readonly mentions: ReadonlyArray<Mention>;
  /** The hashtags of its text, without the sign, in lower case, each once. */
  readonly hashtags: ReadonlyArray<Scalars['String']['output']>;
  /** The post it answers; null if it is no answer, or to one the caller may not see. */
  readonly replyTo?: Maybe<Post>;
  /** The post that began the thread; null if this one did, or if the caller may not see it. */
  readonly threadRoot?: Maybe<Post>;
  /** The answers to it, the oldest first. */
  readonly replies: PostConnection;
  /** The post it passes on without words of its own; null for any other post. */
  readonly reshareOf?: Maybe<Post>;
  /** The post it says something about; null if there is none, or none the caller may see. */
  readonly quote?: Maybe<Post>;
  /** How many answers it has. */
  readonly replyCount: Scalars['Int']['output'];
  /** How often it was reshared, with or without words. */
  readonly reshareCount: Scalars['Int']['output'];
  /** Whether the caller has reshared it without words. */
  readonly viewerHasReshared: Scalars['Boolean']['output'];
  /** How many people like it. */
  readonly likeCount: Scalars['Int']['output'];
  /** Whether the caller likes it. */
  readonly viewerHasLiked: Scalars['Boolean']['output'];
  /** Whether the caller has saved it. */
  readonly viewerHasSaved: Scalars['Boolean']['output'];
  /** Whether the caller wants it in no feed of theirs. */
  readonly viewerHasHidden: Scalars['Boolean']['output'];
};


/** Something somebody said, passed on, or said about what they pass on. */
export type PostRepliesArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['Cursor']['input']>;
};

/** A page on the web. */
export type Link = {
  readonly __typename?: 'Link';
  /** Its address as the author gave it. */
  readonly url: Scalars['String']['output'];
};

/** An account that a text names. */
export type Mention = {
  readonly __typename?: 'Mention';
  /** The handle in the text, in its one spelling. */
  readonly handle: Scalars['String']['output'];
  /** Whose it was when the text was written. */
  readonly account?: Maybe<Account>;
};

/** What a post said before an edit. */
export type PostRevision = {
  readonly __typename?: 'PostRevision';
  /** Its text then. */
  readonly text: Scalars['String']['output'];
  /** Its link then. */
  readonly link?: Maybe<Link>;
  /** When that was written. */
  readonly writtenAt: Scalars['DateTime']['output'];
};

/** A page of posts. */
export type PostConnection = {
  readonly __typename?: 'PostConnection';
  /** The posts of this page. */
  readonly edges: ReadonlyArray<PostEdge>;
  /** Where the page lies. */
  readonly pageInfo: PageInfo;
};

/** A post in a list. */
export type PostEdge = {
  readonly __typename?: 'PostEdge';
  /** The post. */
  readonly node: Post;
  /** Its position. */
  readonly cursor: Scalars['Cursor']['output'];
};

/** A new post: a text, a link or something it reshares, or several of them. */
export type CreatePostInput = {
  /** 500 characters at most, as people count them. `@handle` mentions, `#word` tags. */
  readonly text?: InputMaybe<Scalars['String']['input']>;
  /** The address of a page. */
  readonly link?: InputMaybe<Scalars['String']['input']>;
  /** PUBLIC when it is left out. */
  readonly visibility?: InputMaybe<Visibility>;
  /** The post to answer. */
  readonly replyToId?: InputMaybe<Scalars['ID']['input']>;
  /** The post to pass on: with a text or a link it is quoted, without it is reshared. */
  readonly reshareOfId?: InputMaybe<Scalars['ID']['input']>;
  /** When it was written, at most 24 hours ago; now, when it is left out or lies in the future. */
  readonly clientTs?: InputMaybe<Scalars['DateTime']['input']>;
  /** Made up by the client, once for each post; up to 128 characters. */
  readonly idempotencyKey?: InputMaybe<Scalars['String']['input']>;
};

/** What to change of a post; what is left out stays as it is. */
export type EditPostInput = {
  /** The post. */
  readonly postId: Scalars['ID']['input'];
  /** 500 characters at most; an empty text takes it away. */
  readonly text?: InputMaybe<Scalars['String']['input']>;
  /** The address of a page; an empty text takes it away. */
  readonly link?: InputMaybe<Scalars['String']['input']>;
};

/** A post to delete. */
export type DeletePostInput = {
  /** The post. */
  readonly postId: Scalars['ID']['input'];
};

/** Who may see a post from now on. */
export type ChangeVisibilityInput = {
  /** The post. */
  readonly postId: Scalars['ID']['input'];
  /** Who may see it. */
  readonly visibility: Visibility;
};

/** A post to pass on. */
export type ReshareInput = {
  /** The post. */
  readonly postId: Scalars['ID']['input'];
};

/** A post to pass on no longer. */
export type UnreshareInput = {
  /** The post that was passed on, or the reshare itself. */
  readonly postId: Scalars['ID']['input'];
};

/** A post after it was made or changed. */
export type PostPayload = {
  readonly __typename?: 'PostPayload';
  /** The post as it is now. */
  readonly post?: Maybe<Post>;
  /** What was refused. */
  readonly userErrors: ReadonlyArray<UserError>;
};

/** The end of a post. */
export type DeletePostPayload = {
  readonly __typename?: 'DeletePostPayload';
  /** The id of the post that is no more. */
  readonly deletedPostId?: Maybe<Scalars['ID']['output']>;
  /** What was refused. */
  readonly userErrors: ReadonlyArray<UserError>;
};

/** The end of a reshare. */
export type UnresharePayload = {
  readonly __typename?: 'UnresharePayload';
  /** The post that is no longer passed on; null if the caller may not see it. */
  readonly post?: Maybe<Post>;
  /** What was refused. */
  readonly userErrors: ReadonlyArray<UserError>;
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
  Account: ResolverTypeWrapper<AccountView>;
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
  EngagementInput: EngagementInput;
  ReportInput: ReportInput;
  ReportReason: ReportReason;
  EngagementPayload: ResolverTypeWrapper<Omit<EngagementPayload, 'post'> & { post?: Maybe<ResolversTypes['Post']> }>;
  SavedPostConnection: ResolverTypeWrapper<Omit<SavedPostConnection, 'edges'> & { edges: ReadonlyArray<ResolversTypes['SavedPostEdge']> }>;
  SavedPostEdge: ResolverTypeWrapper<SavedEdge>;
  RelationInput: RelationInput;
  RelationPayload: ResolverTypeWrapper<Omit<RelationPayload, 'account'> & { account?: Maybe<ResolversTypes['Account']> }>;
  AccountConnection: ResolverTypeWrapper<Omit<AccountConnection, 'edges'> & { edges: ReadonlyArray<ResolversTypes['AccountEdge']> }>;
  AccountEdge: ResolverTypeWrapper<Omit<AccountEdge, 'node'> & { node: ResolversTypes['Account'] }>;
  Visibility: Visibility;
  Post: ResolverTypeWrapper<PostView>;
  Link: ResolverTypeWrapper<Link>;
  Mention: ResolverTypeWrapper<KnownMention>;
  PostRevision: ResolverTypeWrapper<Revision>;
  PostConnection: ResolverTypeWrapper<Omit<PostConnection, 'edges'> & { edges: ReadonlyArray<ResolversTypes['PostEdge']> }>;
  PostEdge: ResolverTypeWrapper<Omit<PostEdge, 'node'> & { node: ResolversTypes['Post'] }>;
  CreatePostInput: CreatePostInput;
  EditPostInput: EditPostInput;
  DeletePostInput: DeletePostInput;
  ChangeVisibilityInput: ChangeVisibilityInput;
  ReshareInput: ReshareInput;
  UnreshareInput: UnreshareInput;
  PostPayload: ResolverTypeWrapper<Omit<PostPayload, 'post'> & { post?: Maybe<ResolversTypes['Post']> }>;
  DeletePostPayload: ResolverTypeWrapper<DeletePostPayload>;
  UnresharePayload: ResolverTypeWrapper<Omit<UnresharePayload, 'post'> & { post?: Maybe<ResolversTypes['Post']> }>;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  Account: AccountView;
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
  EngagementInput: EngagementInput;
  ReportInput: ReportInput;
  EngagementPayload: Omit<EngagementPayload, 'post'> & { post?: Maybe<ResolversParentTypes['Post']> };
  SavedPostConnection: Omit<SavedPostConnection, 'edges'> & { edges: ReadonlyArray<ResolversParentTypes['SavedPostEdge']> };
  SavedPostEdge: SavedEdge;
  RelationInput: RelationInput;
  RelationPayload: Omit<RelationPayload, 'account'> & { account?: Maybe<ResolversParentTypes['Account']> };
  AccountConnection: Omit<AccountConnection, 'edges'> & { edges: ReadonlyArray<ResolversParentTypes['AccountEdge']> };
  AccountEdge: Omit<AccountEdge, 'node'> & { node: ResolversParentTypes['Account'] };
  Post: PostView;
  Link: Link;
  Mention: KnownMention;
  PostRevision: Revision;
  PostConnection: Omit<PostConnection, 'edges'> & { edges: ReadonlyArray<ResolversParentTypes['PostEdge']> };
  PostEdge: Omit<PostEdge, 'node'> & { node: ResolversParentTypes['Post'] };
  CreatePostInput: CreatePostInput;
  EditPostInput: EditPostInput;
  DeletePostInput: DeletePostInput;
  ChangeVisibilityInput: ChangeVisibilityInput;
  ReshareInput: ReshareInput;
  UnreshareInput: UnreshareInput;
  PostPayload: Omit<PostPayload, 'post'> & { post?: Maybe<ResolversParentTypes['Post']> };
  DeletePostPayload: DeletePostPayload;
  UnresharePayload: Omit<UnresharePayload, 'post'> & { post?: Maybe<ResolversParentTypes['Post']> };
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
  postsCount?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  posts?: Resolver<ResolversTypes['PostConnection'], ParentType, ContextType, RequireFields<AccountPostsArgs, 'first'>>;
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
  __resolveType: TypeResolveFn<'Account' | 'Post', ParentType, ContextType>;
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
  savedPosts?: Resolver<ResolversTypes['SavedPostConnection'], ParentType, ContextType, RequireFields<QuerySavedPostsArgs, 'first'>>;
  followRequests?: Resolver<ResolversTypes['AccountConnection'], ParentType, ContextType, RequireFields<QueryFollowRequestsArgs, 'first'>>;
  blockedAccounts?: Resolver<ResolversTypes['AccountConnection'], ParentType, ContextType, RequireFields<QueryBlockedAccountsArgs, 'first'>>;
  mutedAccounts?: Resolver<ResolversTypes['AccountConnection'], ParentType, ContextType, RequireFields<QueryMutedAccountsArgs, 'first'>>;
  post?: Resolver<Maybe<ResolversTypes['Post']>, ParentType, ContextType, RequireFields<QueryPostArgs, 'id'>>;
};

export type MutationResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation']> = {
  signUp?: Resolver<ResolversTypes['TokensPayload'], ParentType, ContextType, RequireFields<MutationSignUpArgs, 'input'>>;
  signIn?: Resolver<ResolversTypes['TokensPayload'], ParentType, ContextType, RequireFields<MutationSignInArgs, 'input'>>;
  refreshTokens?: Resolver<ResolversTypes['TokensPayload'], ParentType, ContextType, RequireFields<MutationRefreshTokensArgs, 'input'>>;
  signOut?: Resolver<ResolversTypes['SignOutPayload'], ParentType, ContextType, RequireFields<MutationSignOutArgs, 'input'>>;
  updateProfile?: Resolver<ResolversTypes['UpdateProfilePayload'], ParentType, ContextType, RequireFields<MutationUpdateProfileArgs, 'input'>>;
  like?: Resolver<ResolversTypes['EngagementPayload'], ParentType, ContextType, RequireFields<MutationLikeArgs, 'input'>>;
  unlike?: Resolver<ResolversTypes['EngagementPayload'], ParentType, ContextType, RequireFields<MutationUnlikeArgs, 'input'>>;
  save?: Resolver<ResolversTypes['EngagementPayload'], ParentType, ContextType, RequireFields<MutationSaveArgs, 'input'>>;
  unsave?: Resolver<ResolversTypes['EngagementPayload'], ParentType, ContextType, RequireFields<MutationUnsaveArgs, 'input'>>;
  hide?: Resolver<ResolversTypes['EngagementPayload'], ParentType, ContextType, RequireFields<MutationHideArgs, 'input'>>;
  unhide?: Resolver<ResolversTypes['EngagementPayload'], ParentType, ContextType, RequireFields<MutationUnhideArgs, 'input'>>;
  report?: Resolver<ResolversTypes['EngagementPayload'], ParentType, ContextType, RequireFields<MutationReportArgs, 'input'>>;
  follow?: Resolver<ResolversTypes['RelationPayload'], ParentType, ContextType, RequireFields<MutationFollowArgs, 'input'>>;
  unfollow?: Resolver<ResolversTypes['RelationPayload'], ParentType, ContextType, RequireFields<MutationUnfollowArgs, 'input'>>;
  acceptFollowRequest?: Resolver<ResolversTypes['RelationPayload'], ParentType, ContextType, RequireFields<MutationAcceptFollowRequestArgs, 'input'>>;
  refuseFollowRequest?: Resolver<ResolversTypes['RelationPayload'], ParentType, ContextType, RequireFields<MutationRefuseFollowRequestArgs, 'input'>>;
  removeFollower?: Resolver<ResolversTypes['RelationPayload'], ParentType, ContextType, RequireFields<MutationRemoveFollowerArgs, 'input'>>;
  block?: Resolver<ResolversTypes['RelationPayload'], ParentType, ContextType, RequireFields<MutationBlockArgs, 'input'>>;
  unblock?: Resolver<ResolversTypes['RelationPayload'], ParentType, ContextType, RequireFields<MutationUnblockArgs, 'input'>>;
  mute?: Resolver<ResolversTypes['RelationPayload'], ParentType, ContextType, RequireFields<MutationMuteArgs, 'input'>>;
  unmute?: Resolver<ResolversTypes['RelationPayload'], ParentType, ContextType, RequireFields<MutationUnmuteArgs, 'input'>>;
  createPost?: Resolver<ResolversTypes['PostPayload'], ParentType, ContextType, RequireFields<MutationCreatePostArgs, 'input'>>;
  editPost?: Resolver<ResolversTypes['PostPayload'], ParentType, ContextType, RequireFields<MutationEditPostArgs, 'input'>>;
  deletePost?: Resolver<ResolversTypes['DeletePostPayload'], ParentType, ContextType, RequireFields<MutationDeletePostArgs, 'input'>>;
  changeVisibility?: Resolver<ResolversTypes['PostPayload'], ParentType, ContextType, RequireFields<MutationChangeVisibilityArgs, 'input'>>;
  reshare?: Resolver<ResolversTypes['PostPayload'], ParentType, ContextType, RequireFields<MutationReshareArgs, 'input'>>;
  unreshare?: Resolver<ResolversTypes['UnresharePayload'], ParentType, ContextType, RequireFields<MutationUnreshareArgs, 'input'>>;
};

export type EngagementPayloadResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['EngagementPayload'] = ResolversParentTypes['EngagementPayload']> = {
  post?: Resolver<Maybe<ResolversTypes['Post']>, ParentType, ContextType>;
  userErrors?: Resolver<ReadonlyArray<ResolversTypes['UserError']>, ParentType, ContextType>;
};

export type SavedPostConnectionResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['SavedPostConnection'] = ResolversParentTypes['SavedPostConnection']> = {
  edges?: Resolver<ReadonlyArray<ResolversTypes['SavedPostEdge']>, ParentType, ContextType>;
  pageInfo?: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
};

export type SavedPostEdgeResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['SavedPostEdge'] = ResolversParentTypes['SavedPostEdge']> = {
  node?: Resolver<ResolversTypes['Post'], ParentType, ContextType>;
  savedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  cursor?: Resolver<ResolversTypes['Cursor'], ParentType, ContextType>;
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

export type PostResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Post'] = ResolversParentTypes['Post']> = {
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  author?: Resolver<ResolversTypes['Account'], ParentType, ContextType>;
  text?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  editedAt?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  history?: Resolver<ReadonlyArray<ResolversTypes['PostRevision']>, ParentType, ContextType>;
  visibility?: Resolver<ResolversTypes['Visibility'], ParentType, ContextType>;
  link?: Resolver<Maybe<ResolversTypes['Link']>, ParentType, ContextType>;
  mentions?: Resolver<ReadonlyArray<ResolversTypes['Mention']>, ParentType, ContextType>;
  hashtags?: Resolver<ReadonlyArray<ResolversTypes['String']>, ParentType, ContextType>;
  replyTo?: Resolver<Maybe<ResolversTypes['Post']>, ParentType, ContextType>;
  threadRoot?: Resolver<Maybe<ResolversTypes['Post']>, ParentType, ContextType>;
  replies?: Resolver<ResolversTypes['PostConnection'], ParentType, ContextType, RequireFields<PostRepliesArgs, 'first'>>;
  reshareOf?: Resolver<Maybe<ResolversTypes['Post']>, ParentType, ContextType>;
  quote?: Resolver<Maybe<ResolversTypes['Post']>, ParentType, ContextType>;
  replyCount?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  reshareCount?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  viewerHasReshared?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  likeCount?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  viewerHasLiked?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  viewerHasSaved?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  viewerHasHidden?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type LinkResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Link'] = ResolversParentTypes['Link']> = {
  url?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type MentionResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['Mention'] = ResolversParentTypes['Mention']> = {
  handle?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  account?: Resolver<Maybe<ResolversTypes['Account']>, ParentType, ContextType>;
};

export type PostRevisionResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['PostRevision'] = ResolversParentTypes['PostRevision']> = {
  text?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  link?: Resolver<Maybe<ResolversTypes['Link']>, ParentType, ContextType>;
  writtenAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
};

export type PostConnectionResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['PostConnection'] = ResolversParentTypes['PostConnection']> = {
  edges?: Resolver<ReadonlyArray<ResolversTypes['PostEdge']>, ParentType, ContextType>;
  pageInfo?: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
};

export type PostEdgeResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['PostEdge'] = ResolversParentTypes['PostEdge']> = {
  node?: Resolver<ResolversTypes['Post'], ParentType, ContextType>;
  cursor?: Resolver<ResolversTypes['Cursor'], ParentType, ContextType>;
};

export type PostPayloadResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['PostPayload'] = ResolversParentTypes['PostPayload']> = {
  post?: Resolver<Maybe<ResolversTypes['Post']>, ParentType, ContextType>;
  userErrors?: Resolver<ReadonlyArray<ResolversTypes['UserError']>, ParentType, ContextType>;
};

export type DeletePostPayloadResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['DeletePostPayload'] = ResolversParentTypes['DeletePostPayload']> = {
  deletedPostId?: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
  userErrors?: Resolver<ReadonlyArray<ResolversTypes['UserError']>, ParentType, ContextType>;
};

export type UnresharePayloadResolvers<ContextType = RequestContext, ParentType extends ResolversParentTypes['UnresharePayload'] = ResolversParentTypes['UnresharePayload']> = {
  post?: Resolver<Maybe<ResolversTypes['Post']>, ParentType, ContextType>;
  userErrors?: Resolver<ReadonlyArray<ResolversTypes['UserError']>, ParentType, ContextType>;
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
  EngagementPayload?: EngagementPayloadResolvers<ContextType>;
  SavedPostConnection?: SavedPostConnectionResolvers<ContextType>;
  SavedPostEdge?: SavedPostEdgeResolvers<ContextType>;
  RelationPayload?: RelationPayloadResolvers<ContextType>;
  AccountConnection?: AccountConnectionResolvers<ContextType>;
  AccountEdge?: AccountEdgeResolvers<ContextType>;
  Post?: PostResolvers<ContextType>;
  Link?: LinkResolvers<ContextType>;
  Mention?: MentionResolvers<ContextType>;
  PostRevision?: PostRevisionResolvers<ContextType>;
  PostConnection?: PostConnectionResolvers<ContextType>;
  PostEdge?: PostEdgeResolvers<ContextType>;
  PostPayload?: PostPayloadResolvers<ContextType>;
  DeletePostPayload?: DeletePostPayloadResolvers<ContextType>;
  UnresharePayload?: UnresharePayloadResolvers<ContextType>;
};

export type DirectiveResolvers<ContextType = RequestContext> = {
  needs?: NeedsDirectiveResolver<any, any, ContextType>;
  public?: PublicDirectiveResolver<any, any, ContextType>;
};

