/** Asking as somebody else, for those who may: the headers Impersonate-User, -Group, -Uid and -Extra-…. */
import type { Authorizer } from "../authorization.ts";
import type { ExchangeRequest } from "../exchange.ts";
import type { User } from "../request.ts";

/** Whom the request is from: the user itself if it does not ask to be another. Throws a StatusError if it may not. */
export function impersonated(_authorizer: Authorizer, _request: ExchangeRequest, user: User): User {
  return user;
}
