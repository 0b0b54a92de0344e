/**
 * Answers the requests of pages from a recording, as the API server did: discovery, lists and objects at any of its revisions, causes,
 * timeline and differences. Nothing changes in it, and nothing can be changed.
 */
import { badRequest, expired, notFound, StatusError } from "../../../api/machinery/status-error.ts";
import type { JsonObject, KubeObject } from "../../../api/machinery/object.ts";
import { CAUSES_PATH, DIFF_PATH, EXPLAIN_API_VERSION, TIMELINE_PATH } from "../../../explain/explain-api.ts";
import { fieldChanges } from "../../../explain/field-changes.ts";
import { ClusterView } from "../../../explain/why/cluster-view.ts";
import { explainView } from "../../../explain/why/explain-view.ts";
import type { WhyAnswer } from "../../../explain/why/why-text.ts";
import { parseApiPath, type ApiPath } from "../api-path.ts";
import type { ClusterConnection, ConnectionRequest, ConnectionResponse } from "../connection.ts";
import { field } from "../fields.ts";
import { errorResponse, jsonResponse, silentResponse } from "../fixed-response.ts";
import { kindId, kindOfId } from "../kinds.ts";
import { WHY_PATH } from "../paths.ts";
import { RecordedStates } from "./recorded-states.ts";
import type { RecordedItem, RecordedKind, Recording } from "./recording.ts";

export function recordingConnection(recording: Recording): ClusterConnection {
  const states = new RecordedStates(recording);
  return {
    send(request) {
      try {
        return Promise.resolve(answer({ recording, states }, request));
      } catch (error) {
        if (error instanceof StatusError) return Promise.resolve(errorResponse(error));
        throw error;
      }
    },
    open(_path, _protocols, listener) {
      listener.closed("A recording has no containers to connect to");
      return { send: () => undefined, close: () => undefined };
    },
  };
}

interface Source {
  readonly recording: Recording;
  readonly states: RecordedStates;
}

function answer(source: Source, { method = "GET", path: target, accept = "", signal }: ConnectionRequest): ConnectionResponse {
  const [path = "", query = ""] = target.split("?");
  const parameters = new URLSearchParams(query);
  if (method !== "GET") throw new StatusError("MethodNotAllowed", "A recording cannot be changed");
  if (path === "/api" || path === "/apis") return jsonResponse(discovery(source.recording, { isCore: path === "/api" }));
  if (parameters.has("watch")) return silentResponse(signal);
  if (path === CAUSES_PATH) return jsonResponse(causeList(source.recording));
  if (path === TIMELINE_PATH) return jsonResponse(timeline(source.recording));
  if (path === DIFF_PATH) return jsonResponse(diff(source, parameters));
  if (path === WHY_PATH) return jsonResponse(whyAnswer(source, parameters));
  const named = parseApiPath(path);
  const kind = named === undefined ? undefined : kindOfId(source.recording.kinds, kindId(named));
  if (named === undefined || kind === undefined || named.subresource !== "")
    throw new StatusError("NotFound", `The recording does not contain ${path}`);
  return jsonResponse(objects(source, { named, kind: kind as RecordedKind, parameters, accept }));
}

function discovery({ kinds }: Recording, { isCore }: { readonly isCore: boolean }): JsonObject {
  const own = kinds.filter(({ group }) => (group === "") === isCore);
  const groups = [...new Set(own.map(({ group }) => group))];
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    items: groups.map((group) => ({
      metadata: { name: group },
      versions: [...new Set(own.filter((kind) => kind.group === group).map(({ version }) => version))].map((version) => ({
        version,
        resources: own
          .filter((kind) => kind.group === group && kind.version === version)
          .map(({ plural, kind, isNamespaced, verbs, shortNames }) => ({
            ...{ resource: plural, responseKind: { group, version, kind }, scope: isNamespaced ? "Namespaced" : "Cluster" },
            ...{ verbs, shortNames },
          })),
      })),
    })),
  };
}

function causeList({ causes }: Recording): object {
  const metadata = { oldest: causes[0]?.id ?? 0, newest: causes.at(-1)?.id ?? 0 };
  return { kind: "CauseList", apiVersion: EXPLAIN_API_VERSION, metadata, items: causes };
}

/** The start, and a point per write. */
function timeline({ from, to, causes }: Recording): object {
  const [first, last] = [Number(from.revision), Number(to.revision)];
  const writes = causes.flatMap(({ resourceVersion = "0", time }) => {
    const revision = Number(resourceVersion);
    return revision > first && revision <= last ? [{ revision: resourceVersion, time, writes: 1 }] : [];
  });
  const metadata = { oldest: from.revision, newest: to.revision };
  return { kind: "Timeline", apiVersion: EXPLAIN_API_VERSION, metadata, items: [{ ...from, writes: 0 }, ...writes] };
}

function diff({ recording, states }: Source, parameters: URLSearchParams): object {
  const text = (name: string) => parameters.get(name) ?? "";
  const [from, to] = [Number(text("from")), Number(text("to") || recording.to.revision)];
  // A single write is requested as the step from the revision before.
  if (from < Number(recording.from.revision) - 1) throw expired("The recording begins later than this revision");
  const versions = states.versionsOf({ resource: text("resource"), namespace: text("namespace"), name: text("name") }, { from, to });
  const exists = (version: (typeof versions)[number] | undefined) => version?.content !== undefined;
  return {
    kind: "ObjectDiff",
    apiVersion: EXPLAIN_API_VERSION,
    from: { revision: String(from), exists: exists(versions.at(-1)) },
    to: { revision: String(to), exists: exists(versions[0]) },
    changes: fieldChanges(versions),
  };
}

/** Without a remedy: a recording is not complete enough to try one. */
function whyAnswer({ recording, states }: Source, parameters: URLSearchParams): WhyAnswer {
  const text = (name: string) => parameters.get(name) ?? "";
  const revision = text("at") || recording.to.revision;
  const causes = recording.causes.filter(({ resourceVersion = "0" }) => Number(resourceVersion) <= Number(revision));
  const objects = new Map(
    recording.kinds.map((kind) => [kindId(kind), states.at(kindId(kind), Number(revision)).map(({ object }) => object)]),
  );
  const nowMs = Date.parse(causes.at(-1)?.time ?? recording.from.time);
  const unread = recording.missing.map((message) => ({ resource: "recording", message, isForbidden: false }));
  const view = new ClusterView({ objects, causes, decisions: new Map(), nowMs, unread });
  const explained = explainView(view, { resource: text("resource"), namespace: text("namespace"), name: text("name") });
  return "explanation" in explained ? { ...explained.answer, remedy: { is: "incomplete" } } : explained.answer;
}

interface Wanted {
  readonly named: ApiPath;
  readonly kind: RecordedKind;
  readonly parameters: URLSearchParams;
  readonly accept: string;
}

function objects({ recording, states }: Source, { named, kind, parameters, accept }: Wanted): object {
  const revision = Number(parameters.get("resourceVersion") || recording.to.revision);
  const matches = selector(named, parameters);
  const found = states.at(kindId(kind), revision).filter(({ object }) => matches(object));
  if (named.name !== "") return found[0]?.object ?? missing(named);
  const start = Number(parameters.get("continue") ?? "0");
  const limit = Number(parameters.get("limit") ?? "0") || found.length;
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(limit)) throw badRequest("The recording does not know this page");
  const page = found.slice(start, start + limit);
  const isLast = start + limit >= found.length;
  const metadata = { resourceVersion: String(revision), ...(isLast ? {} : { continue: String(start + limit) }) };
  if (accept.includes("as=Table")) return table(kind, page, metadata);
  const apiVersion = kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
  return { apiVersion, kind: `${kind.kind}List`, metadata, items: page.map(({ object }) => object) };
}

function missing({ group, plural, name }: ApiPath): never {
  throw notFound({ group, plural }, name);
}

function table({ columns }: RecordedKind, page: readonly RecordedItem[], metadata: object): object {
  const rows = page.map(({ object, cells }) => ({ cells, object: { metadata: object.metadata } }));
  return { kind: "Table", apiVersion: "meta.k8s.io/v1", metadata, columnDefinitions: columns, rows };
}

/** Equality of fields and labels: what pages use. */
function selector({ namespace, name }: ApiPath, parameters: URLSearchParams): (object: KubeObject) => boolean {
  const fields = pairs(parameters.get("fieldSelector") ?? "");
  const labels = pairs(parameters.get("labelSelector") ?? "");
  return (object) =>
    (namespace === "" || field(object, "metadata", "namespace") === namespace) &&
    (name === "" || field(object, "metadata", "name") === name) &&
    fields.every(([path, value]) => (field(object, ...path.split(".")) ?? "") === value) &&
    labels.every(([key, value]) => field(object, "metadata", "labels", key) === value);
}

function pairs(text: string): readonly (readonly [string, string])[] {
  return text
    .split(",")
    .filter((part) => part !== "")
    .map((part) => {
      const at = part.indexOf("=");
      if (at < 0 || part[at - 1] === "!") throw badRequest(`A recording cannot be selected by "${part}"`);
      return [part.slice(0, at), part.slice(at).replace(/^==?/, "")];
    });
}
