/** Ways to show who one is, in the order of asking, which is upstream's: the first that knows what it is shown decides. */
import type { RequestAuthenticatorFactory, TokenAuthenticatorFactory } from "../authentication.ts";

export const requestAuthenticators: readonly RequestAuthenticatorFactory[] = [];

export const tokenAuthenticators: readonly TokenAuthenticatorFactory[] = [];
