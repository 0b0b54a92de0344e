/**
 * The contract between the authenticator, which knows signatures, audiences and where objects are, and the two kinds of tokens that
 * service accounts have: those that are bound and end (bound-token.ts), and those that a Secret holds (legacy-token.ts).
 */
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { KindName } from "../../framework/objects.ts";
import type { User } from "../../framework/request.ts";

/** What is signed, and so is true of a token for as long as it is remembered. */
export interface VerifiedToken {
  /** Empty: it is meant for this API. */
  readonly audiences: readonly string[];
  /** The same object each time, so that what was decided for it is found again. */
  readonly user: User;
  /** What must be there for it to be good. */
  readonly references: readonly Reference[];
  /** Before anything is looked up. Throws an AuthenticationError. */
  checkTimes(nowMs: number): void;
  /** `found`: what there is at this moment, in the order of `references`. Throws an AuthenticationError. */
  judge(found: readonly (KubeObject | undefined)[], nowMs: number): Judgement;
}

export interface Reference {
  readonly kind: KindName;
  /** "" for nodes. */
  readonly namespace: string;
  readonly name: string;
  /** undefined: any of this name. */
  readonly uid: string | undefined;
}

export interface Judgement {
  /** It is not good, but was used. */
  readonly problem?: string;
  /** Sentences for the `Warning` header. */
  readonly warnings?: readonly string[];
  /** The Secret that shall say, by a label, on which day its token was used. */
  readonly usedSecret?: KubeObject;
}

export const SERVICE_ACCOUNTS: KindName = { group: "", plural: "serviceaccounts" };
export const SECRETS: KindName = { group: "", plural: "secrets" };
export const PODS: KindName = { group: "", plural: "pods" };
export const NODES: KindName = { group: "", plural: "nodes" };
