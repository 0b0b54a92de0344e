/**
 * Collects what the audit policy wants recorded of one request, and emits an event at each of its stages. Events are upstream's, with the
 * members in upstream's order.
 */
import { writeJson } from "../../../api/machinery/codec/json.ts";
import { isObject, type Json, type JsonObject } from "../../../api/machinery/object.ts";
import type { StatusError } from "../../../api/machinery/status-error.ts";
import { AUDIT_LEVELS, type AuditLevel, type AuditNotes, type AuditStage } from "../../framework/audit.ts";
import type { AccessedResource } from "../../framework/authorization.ts";
import type { Outcome } from "../../framework/outcome.ts";
import type { User } from "../../framework/request.ts";
import type { AuditDecision, AuditedAccess } from "./audit-policy.ts";

/** The beginning of a request. */
export interface AuditedArrival {
  /** The `Audit-Id` of its response. */
  readonly id: string;
  readonly access: AuditedAccess;
  /** Path and query as received. */
  readonly requestUri: string;
  /** Empty for a component of this process. */
  readonly sourceAddresses: readonly string[];
  readonly userAgent: string;
  readonly receivedMs: number;
}

/** Upstream's limit, and its mark of a longer one. */
const USER_AGENT_LENGTH_MAX = 1_024;
const TRUNCATED = "...TRUNCATED";

/** Subresources that may take any time, as upstream. */
const LONG_RUNNING: readonly string[] = ["attach", "exec", "log", "portforward", "proxy"];

type Emit = (event: string) => void;

export class AuditRecord implements AuditNotes {
  /** True for a request that may take any time: its response has a stage of its own. */
  readonly isLongRunning: boolean;
  readonly #arrival: AuditedArrival;
  readonly #decision: AuditDecision;
  readonly #emit: Emit;
  readonly #nowMs: () => number;
  readonly #annotations = new Map<string, string>();
  #impersonated: User | undefined;
  #object: JsonObject | undefined;
  #requestObject: Json | undefined;
  #responseObject: Json | undefined;
  #status: JsonObject | undefined;
  #hasPanicked = false;

  constructor(arrival: AuditedArrival, decision: AuditDecision, { emit, nowMs }: { readonly emit: Emit; readonly nowMs: () => number }) {
    const { verb, resource } = arrival.access;
    this.isLongRunning = verb === "watch" || LONG_RUNNING.includes(resource?.subresource ?? "");
    this.#arrival = arrival;
    this.#decision = decision;
    this.#emit = emit;
    this.#nowMs = nowMs;
  }

  annotate(key: string, value: string): void {
    if (!this.#annotations.has(key)) this.#annotations.set(key, value);
  }

  annotateRequest(key: string, value: () => string): void {
    if (this.#records("Request")) this.annotate(key, value());
  }

  authorized({ allowed, reason = "" }: { readonly allowed: boolean; readonly reason?: string }): void {
    this.annotate("authorization.k8s.io/decision", allowed ? "allow" : "forbid");
    this.annotate("authorization.k8s.io/reason", reason);
  }

  impersonated(user: User): void {
    this.#impersonated = user;
  }

  received(object: JsonObject): void {
    this.#object = object;
    if (this.#records("Request")) this.#requestObject = this.#recorded(object);
  }

  receivedPatch(patch: Json): void {
    if (this.#records("Request")) this.#requestObject = patch;
  }

  /** The outcome of a request that succeeded. */
  responded(outcome: Outcome): void {
    const answer = this.#records("RequestResponse") ? responseOf(outcome) : undefined;
    if (answer !== undefined) this.#responseObject = this.#recorded(answer);
    if (outcome.is === "value" && outcome.value["kind"] === "Status") this.#status = statusOf(outcome.value);
  }

  failed(error: StatusError): void {
    if (this.#hasPanicked) return;
    const status: JsonObject = { ...error.toStatus() };
    this.#status = statusOf(status);
    if (this.#records("RequestResponse")) this.#responseObject = status;
  }

  panicked(error: unknown): void {
    const message = `APIServer panic'd: ${error instanceof Error ? error.message : String(error)}`;
    this.#status = { metadata: {}, status: "Failure", message, reason: "InternalError", code: INTERNAL_ERROR };
    this.#hasPanicked = true;
  }

  receivedRequest(): void {
    this.#emitAt("RequestReceived", this.#arrival.receivedMs);
  }

  /** The head of the response is sent. */
  started(code: number): void {
    if (!this.#hasPanicked) this.#status = { metadata: {}, ...this.#status, code };
    if (this.isLongRunning) this.#emitAt("ResponseStarted", this.#nowMs());
  }

  /** For a request whose authentication failed, of which upstream records only this. */
  rejected(error: StatusError): void {
    this.failed(error);
    this.#emitAt("ResponseStarted", this.#nowMs());
  }

  completed(): void {
    this.#emitAt(this.#hasPanicked ? "Panic" : "ResponseComplete", this.#nowMs());
  }

  #records(level: AuditLevel): boolean {
    return AUDIT_LEVELS.indexOf(this.#decision.level) >= AUDIT_LEVELS.indexOf(level);
  }

  #recorded(object: JsonObject): JsonObject {
    return this.#decision.omitManagedFields ? withoutManagedFields(object) : object;
  }

  #emitAt(stage: AuditStage, stageMs: number): void {
    if (this.#decision.omitStages.has(stage)) return;
    const { id, access, requestUri, sourceAddresses, userAgent, receivedMs } = this.#arrival;
    const event = {
      kind: "Event",
      apiVersion: "audit.k8s.io/v1",
      level: this.#decision.level,
      auditID: id,
      stage,
      requestURI: requestUri,
      verb: access.verb,
      user: userInfo(access.user),
      impersonatedUser: this.#impersonated === undefined ? undefined : userInfo(this.#impersonated),
      sourceIPs: sourceAddresses.length === 0 ? undefined : sourceAddresses,
      userAgent: shortened(userAgent),
      objectRef: access.resource === undefined ? undefined : referenceOf(access.resource, this.#object),
      responseStatus: this.#status,
      requestObject: this.#requestObject,
      responseObject: this.#responseObject,
      requestReceivedTimestamp: microTime(receivedMs),
      stageTimestamp: microTime(stageMs),
      annotations: this.#annotations.size === 0 ? undefined : Object.fromEntries([...this.#annotations].toSorted(byKey)),
    };
    this.#emit(writeJson(event));
  }
}

const INTERNAL_ERROR = 500;

function byKey([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : 1;
}

/** Members that are absent are left out. */
function userInfo(user: User | undefined): object {
  if (user === undefined) return {};
  const { name: username, uid, groups, extra } = user;
  const hasExtra = extra !== undefined && Object.keys(extra).length > 0;
  return { username, ...(uid === undefined || uid === "" ? {} : { uid }), groups, ...(hasExtra ? { extra } : {}) };
}

function shortened(userAgent: string): string | undefined {
  if (userAgent === "") return undefined;
  return userAgent.length <= USER_AGENT_LENGTH_MAX ? userAgent : `${userAgent.slice(0, USER_AGENT_LENGTH_MAX)}${TRUNCATED}`;
}

/** What the path does not say is read from the body, as upstream. */
function referenceOf({ group, version, plural, subresource, namespace, name }: AccessedResource, object: JsonObject = {}): object {
  const metadata = isObject(object["metadata"]) ? object["metadata"] : {};
  const text = (member: string): string => (typeof metadata[member] === "string" ? metadata[member] : "");
  const all = {
    resource: plural,
    namespace: namespace || text("namespace"),
    name: name || text("name"),
    uid: text("uid"),
    apiGroup: group,
    apiVersion: version,
    resourceVersion: text("resourceVersion"),
    subresource,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
}

/** The members of a Status that are bounded, as upstream. */
function statusOf({ status, message, reason, details, code }: JsonObject): JsonObject {
  const members = Object.entries({ status, message, reason, details, code }).filter(([, value]) => value !== undefined);
  return { metadata: {}, ...Object.fromEntries(members) };
}

/** Undefined: the response is not an object. */
function responseOf(outcome: Outcome): JsonObject | undefined {
  switch (outcome.is) {
    case "object":
      return { ...outcome.object.in(outcome.endpoint.served) };
    case "list": {
      const { endpoint, list } = outcome;
      const items = list.objects.map((object): JsonObject => ({ ...object.in(endpoint.served) }));
      const { group, version } = endpoint.served;
      const apiVersion = group === "" ? version : `${group}/${version}`;
      return { kind: `${endpoint.resource.kind}List`, apiVersion, metadata: { resourceVersion: String(list.revision) }, items };
    }
    case "value":
      return outcome.value;
    default:
      return undefined;
  }
}

function withoutManagedFields(object: JsonObject): JsonObject {
  const { metadata, items } = object;
  if (Array.isArray(items)) return { ...object, items: items.map((item: Json) => (isObject(item) ? withoutManagedFields(item) : item)) };
  if (!isObject(metadata) || metadata["managedFields"] === undefined) return object;
  const { managedFields: _omitted, ...kept } = metadata;
  return { ...object, metadata: kept };
}

/** "2026-01-02T03:04:05.678000Z". */
function microTime(timeMs: number): string {
  return new Date(timeMs).toISOString().replace(/Z$/, "000Z");
}
