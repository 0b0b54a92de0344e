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

  /** `nowMs`: after the commit; absent: there was none. Hot path (called per commit): one small object, without those of `RequestStages`. */
  passed(nowMs?: number): PassedStages {
    const authenticatedMs = this.#authenticatedMs ?? 0;
    const authorizedMs = this.#authorizedMs ?? authenticatedMs;
    const passed = new PassedStages(this.#arrived, this.#authorization);
    if (this.#arrived !== undefined) passed.authenticationUs = microseconds(authenticatedMs - this.#arrived.atMs);
    if (this.#authorization !== undefined) passed.authorizationUs = microseconds(authorizedMs - authenticatedMs);
    if (this.#admittedMs !== undefined) {
      passed.admissionUs = microseconds(this.#admissionMs);
      passed.auditAnnotations = this.#auditAnnotations;
    }
    if (nowMs !== undefined) passed.storeUs = microseconds(nowMs - (this.#admittedMs ?? authorizedMs));
    return passed;
  }

  /** `Audit-Id` of the request; in process, a name of the same purpose. Created on first access: most reads need none. */
  get id(): string {
    return (this.#id ??= this.#newId());
  }
}

/** Not measured: the request did not reach the stage. */
const ABSENT = -1;

/** The stages of one request, in as little memory as thousands that are kept may use. Numbers are whole, so that V8 does not box them. */
export class PassedStages {
  authenticationUs = ABSENT;
  authorizationUs = ABSENT;
  admissionUs = ABSENT;
  storeUs = ABSENT;
  auditAnnotations: Readonly<Record<string, string>> | undefined;
  // Not the objects that have them, which would be kept with all their members.
  readonly #authenticator: string | undefined;
  readonly #impersonator: string | undefined;
  readonly #authorizer: string | undefined;
  readonly #reason: string | undefined;

  constructor(arrived: Arrived | undefined, authorization: Decision | undefined) {
    this.#authenticator = arrived?.authenticator;
    this.#impersonator = arrived?.impersonator;
    this.#authorizer = authorization?.authorizer;
    this.#reason = authorization?.reason;
  }

  /** Read rarely, and for few of the records. */
  get stages(): RequestStages {
    return JSON.parse(this.json()) as RequestStages;
  }

  /** `stages` as JSON. Hot path (called per commit that is logged): written directly, since objects for it cost more than the text. */
  json(): string {
    const parts: string[] = [];
    if (this.authenticationUs !== ABSENT)
      parts.push(`"authentication":${authenticationJson(this.authenticationUs, this.#authenticator, this.#impersonator)}`);
    if (this.authorizationUs !== ABSENT)
      parts.push(
        `"authorization":{"microseconds":${this.authorizationUs}${member("by", this.#authorizer)}${member("reason", this.#reason)}}`,
      );
    if (this.admissionUs !== ABSENT) {
      const annotations = this.auditAnnotations === undefined ? "" : `,"auditAnnotations":${JSON.stringify(this.auditAnnotations)}`;
      parts.push(`"admission":{"microseconds":${this.admissionUs}${annotations}}`);
    }
    if (this.storeUs !== ABSENT) parts.push(`"store":{"microseconds":${this.storeUs}}`);
    return `{${parts.join(",")}}`;
  }
}

function authenticationJson(microseconds: number, by = "", impersonator: string | undefined): string {
  return `{"by":${JSON.stringify(by)}${member("impersonator", impersonator)},"microseconds":${microseconds}}`;
}

function member(name: string, value: string | undefined): string {
  return value === undefined ? "" : `,"${name}":${JSON.stringify(value)}`;
}

/** Not negative: a clock that was set back must not make a stage absent. */
function microseconds(durationMs: number): number {
  return Math.max(0, Math.round(durationMs * 1_000));
}
