/**
 * Impersonation by the headers Impersonate-User, -Group, -Uid and -Extra-…. The impersonated user has only the requested attributes and
 * none of the requestor's. The modes are tried in order for each request: the result depends on roles alone, and not, as upstream, on the
 * mode of the requestor's last request. Only the choice of the reported rejection depends on that, since it names the permission to add.
 */
import { Lru } from "../../base/lru.ts";
import type { StatusError } from "../../api/machinery/status-error.ts";
import { ANONYMOUS, AUTHENTICATED_GROUP, UNAUTHENTICATED_GROUP } from "../framework/authentication.ts";
import type { AccessAttributes, AccessDecision, AccessedResource, Authorizer } from "../framework/authorization.ts";
import type { ExchangeRequest } from "../framework/exchange.ts";
import { forbiddenAccess } from "../framework/access/forbidden-message.ts";
import type { User } from "../framework/request.ts";
import { requestedAccess } from "../framework/access/requested-access.ts";
import { wantedUser, type WantedUser } from "./impersonation-headers.ts";
import { groupsOf, impersonateOn, impersonationModes, modeRefusal, type ImpersonationMode } from "./impersonation-modes.ts";

/** Returns the effective user: the authenticated one if the request does not impersonate. Throws a StatusError if it may not. */
export function impersonated(authorizer: Authorizer, request: ExchangeRequest, user: User): User {
  const wanted = wantedUser(request);
  if (wanted === undefined) return user;
  return impersonationOf(authorizer).become(wanted, requestedAccess(request, user));
}

const impersonations = new WeakMap<Authorizer, Impersonation>();

/** One per server, which has one authorizer. */
function impersonationOf(authorizer: Authorizer): Impersonation {
  let impersonation = impersonations.get(authorizer);
  if (impersonation === undefined) {
    impersonation = new Impersonation(authorizer);
    impersonations.set(authorizer, impersonation);
  }
  return impersonation;
}

/** Upstream's number. */
const REQUESTORS_MAX = 10_000;
/** Maximum impersonated users kept as the same object, so that authorization results can be cached. */
const USERS_MAX = 1_000;
/** Maximum characters of each cache: names and groups may be long. */
const CACHE_LENGTH_MAX = 4 * 1024 * 1024;
const BY_LENGTH = { maxWeight: CACHE_LENGTH_MAX, weigh: (_: unknown, key: string) => key.length };

class Impersonation {
  readonly #authorizer: Authorizer;
  readonly #lastModes = new Lru<string, ImpersonationMode>({ max: REQUESTORS_MAX, ...BY_LENGTH });
  readonly #users = new Lru<string, User>({ max: USERS_MAX, ...BY_LENGTH });
  readonly #nodeAgents = new WeakMap<User, User>();

  constructor(authorizer: Authorizer) {
    this.#authorizer = authorizer;
  }

  become(wanted: WantedUser, access: AccessAttributes): User {
    const requestor = access.user.name;
    const lastMode = this.#lastModes.get(requestor);
    let rejection: StatusError | undefined;
    for (const mode of impersonationModes) {
      if (!mode.appliesTo(wanted, access.user)) continue;
      const refusal = this.#refusal(mode, wanted, access);
      if (refusal === undefined) {
        this.#lastModes.set(requestor, mode);
        return this.#user(mode, wanted);
      }
      if (rejection === undefined || mode === lastMode) rejection = refusal;
    }
    throw rejection ?? new Error("Cannot impersonate: no mode applies, though the legacy mode always does");
  }

  #refusal(mode: ImpersonationMode, wanted: WantedUser, access: AccessAttributes): StatusError | undefined {
    const isOwnNode = mode.name === "associated-node";
    const user = isOwnNode ? this.#nodeAgent(access.user) : access.user;
    const check = (verb: string, resource: AccessedResource) =>
      this.#denialOf({ user, verb, resource: isOwnNode ? { ...resource, name: "*" } : resource, path: "" });
    const first = mode.name === "" ? undefined : this.#denialOf(impersonateOn(mode, { ...access, user }));
    return first ?? modeRefusal(mode, wanted, user, check);
  }

  #denialOf(access: AccessAttributes): StatusError | undefined {
    const decision = this.#authorizer.authorize(access);
    return decision.allowed ? undefined : forbiddenAccess(access, reasonOf(decision));
  }

  /** The associated-node mode is allowed for every node or for none: authorizers do not see which node it is, only that it was verified. */
  #nodeAgent(user: User): User {
    let agent = this.#nodeAgents.get(user);
    if (agent === undefined) {
      const keys = Object.keys(user.extra ?? {}).toSorted();
      agent = { ...user, extra: { "authentication.kubernetes.io/associated-node-keys": keys } };
      this.#nodeAgents.set(user, agent);
    }
    return agent;
  }

  #user(mode: ImpersonationMode, wanted: WantedUser): User {
    const { name, uid, extra } = wanted;
    const groups = withAuthenticationGroup(name, groupsOf(mode, wanted));
    const key = JSON.stringify([name, uid, groups, [...extra]]);
    let user = this.#users.get(key);
    if (user === undefined) {
      user = { name, groups, ...(uid === "" ? {} : { uid }), ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }) };
      this.#users.set(key, user);
    }
    return user;
  }
}

/** Each user is either authenticated or anonymous. */
function withAuthenticationGroup(name: string, groups: readonly string[]): readonly string[] {
  if (name === ANONYMOUS.name) return groups.includes(UNAUTHENTICATED_GROUP) ? groups : [...groups, UNAUTHENTICATED_GROUP];
  return groups.includes(UNAUTHENTICATED_GROUP) || groups.includes(AUTHENTICATED_GROUP) ? groups : [...groups, AUTHENTICATED_GROUP];
}

function reasonOf({ reason = "", evaluationError = "" }: AccessDecision): string {
  return [evaluationError, reason].filter((part) => part !== "").join(": ");
}
