/**
 * The contract between the authenticator, which handles signatures, audiences and lookups, and the two kinds of service account tokens:
 * bound ones that expire (bound-token.ts), and those in Secrets (legacy-token.ts).
 */
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { KindName } from "../../framework/objects.ts";
import type { User } from "../../framework/request.ts";

/** The signed content, valid as long as the token is cached. */
export interface VerifiedToken {
  /** Empty: for this API. */
  readonly audiences: readonly string[];
  /** The same object each time, so that authorization results can be cached. */
  readonly user: User;
  /** Objects that must exist for the token to be valid. */
  readonly references: readonly Reference[];
  /** Called before any lookup. Throws an AuthenticationError. */
  checkTimes(nowMs: number): void;
  /** `found`: the current objects, in the order of `references`. Throws an AuthenticationError. */
  judge(found: readonly (KubeObject | undefined)[], nowMs: number): Judgement;
}

export interface Reference {
  readonly kind: KindName;
  /** "" for nodes. */
  readonly namespace: string;
  readonly name: string;
  /** undefined: any object of this name. */
  readonly uid: string | undefined;
}

export interface Judgement {
  /** The token is invalid, but was used. */
  readonly problem?: string;
  /** Texts for the `Warning` header. */
  readonly warnings?: readonly string[];
  /** The Secret on which the date of use is to be recorded by a label. */
  readonly usedSecret?: KubeObject;
}

export const SERVICE_ACCOUNTS: KindName = { group: "", plural: "serviceaccounts" };
export const SECRETS: KindName = { group: "", plural: "secrets" };
export const PODS: KindName = { group: "", plural: "pods" };
export const NODES: KindName = { group: "", plural: "nodes" };
