/**
 * What happens to one request on its way through the server, collected for the explain API: its id, who decided in each stage and when, the
 * admission plugins that changed the object, and the one that refused it. Mutable, and owned by one request. Times are those of the
 * monotonic clock.
 */
import { validateQualifiedName } from "../../../api/machinery/names.ts";
import { detachedText } from "../../../base/text.ts";
import type { AdmissionStep, RequestStages } from "../../../explain/explain-api.ts";
import type { AuditNotes } from "../audit.ts";

/** Per request: those of ten webhooks, in both rounds, with some of their own. */
const AUDIT_ANNOTATIONS_MAX = 32;
/** Records are kept by the thousand; the beginning of a longer value is kept. */
const AUDIT_VALUE_LENGTH_MAX = 1_024;

/** The decision that allows the request. */
interface Decision {
  readonly authorizer?: string;
  readonly reason?: string;
}

/** Beginning of a request over HTTP. */
export interface Arrived {
  readonly atMs: number;
  /** The authenticator that found the user. */
  readonly authenticator: string;
  /** The authenticated user, if the request impersonates another. */
  readonly impersonator?: string;
}

export class RequestTrail {
  /** Absent: no plugin has changed the object. */
  steps: AdmissionStep[] | undefined;
  /** The admission plugin that refused the request. */
  refusedBy: string | undefined;
  /** Absent: the request is not audited. */
  audit: AuditNotes | undefined;
  #id: string | undefined;
  readonly #newId: () => string;
  readonly #arrived: Arrived | undefined;
  #authorization: Decision | undefined;
  #authenticatedMs: number | undefined;
  #authorizedMs: number | undefined;
  #admittedMs: number | undefined;
  #admissionMs = 0;
  #auditAnnotations: Record<string, string> | undefined;

  /** `arrived`: absent for a component of this process, which needs no credential. */
  constructor(newId: () => string, arrived?: Arrived) {
    this.#newId = newId;
    this.#arrived = arrived;
  }

  /** Authentication is over, and authorization begins. */
  authenticated(nowMs: number): void {
    this.#authenticatedMs = nowMs;
  }

  authorized(decision: Decision, nowMs: number): void {
    this.#authorization = decision;
    this.#authorizedMs = nowMs;
  }

  /** Called for each step of admission. */
  admitted(fromMs: number, toMs: number): void {
    this.#admissionMs += toMs - fromMs;
    this.#admittedMs = toMs;
  }

  /** As upstream, the first value of a key stays, and a key that is not a qualified name with a prefix is ignored. */
  annotate(key: string, value: string): void {
    this.audit?.annotate(key, value);
    const annotations = this.#auditAnnotations ?? {};
    if (Object.hasOwn(annotations, key) || Object.keys(annotations).length === AUDIT_ANNOTATIONS_MAX) return;
    if (!key.includes("/") || validateQualifiedName(key).length > 0) return;
    annotations[key] = detachedText(value.slice(0, AUDIT_VALUE_LENGTH_MAX));
    this.#auditAnnotations = annotations;
  }

  /** `nowMs`: after the commit; absent: there was none. Hot path (called per commit). */
  stages(nowMs?: number): RequestStages {
    const stages: { -readonly [Stage in keyof RequestStages]: RequestStages[Stage] } = {};
    const authenticatedMs = this.#authenticatedMs ?? 0;
    const authorizedMs = this.#authorizedMs ?? authenticatedMs;
    if (this.#arrived !== undefined) stages.authentication = authenticationOf(this.#arrived, authenticatedMs);
    if (this.#authorization !== undefined) stages.authorization = authorizationOf(this.#authorization, authorizedMs - authenticatedMs);
    if (this.#admittedMs !== undefined) stages.admission = admissionOf(this.#admissionMs, this.#auditAnnotations);
    if (nowMs !== undefined) stages.store = { microseconds: microseconds(nowMs - (this.#admittedMs ?? authorizedMs)) };
    return stages;
  }

  /** `Audit-Id` of the request; in process, a name of the same purpose. Created on first access: most reads need none. */
  get id(): string {
    return (this.#id ??= this.#newId());
  }
}

function authenticationOf(
  { authenticator: by, impersonator, atMs }: Arrived,
  endedMs: number,
): NonNullable<RequestStages["authentication"]> {
  const took = microseconds(endedMs - atMs);
  return impersonator === undefined ? { by, microseconds: took } : { by, impersonator, microseconds: took };
}

function authorizationOf({ authorizer: by, reason }: Decision, tookMs: number): NonNullable<RequestStages["authorization"]> {
  const stage: { by?: string; reason?: string; microseconds: number } = { microseconds: microseconds(tookMs) };
  if (by !== undefined) stage.by = by;
  if (reason !== undefined) stage.reason = reason;
  return stage;
}

function admissionOf(tookMs: number, annotations: Readonly<Record<string, string>> | undefined): NonNullable<RequestStages["admission"]> {
  const took = microseconds(tookMs);
  return annotations === undefined ? { microseconds: took } : { microseconds: took, auditAnnotations: { ...annotations } };
}

function microseconds(durationMs: number): number {
  return Math.round(durationMs * 1_000);
}
