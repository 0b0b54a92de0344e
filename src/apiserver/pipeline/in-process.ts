/**
 * The transport for components of this process: the same pipeline as over HTTP, without serialising, copying or parsing. A response is the
 * shared, frozen object itself.
 */
import type { JsonObject, KubeObject } from "../../api/machinery/object.ts";
import type { Verb } from "../../api/machinery/resource.ts";
import { badRequest } from "../../api/machinery/status-error.ts";
import type {
  Transport,
  TransportEvent,
  TransportRequest,
  TransportResponse,
  TransportWatch,
  TransportWatchListener,
} from "../../api/machinery/transport.ts";
import type { Outcome } from "../framework/outcome.ts";
import { READING, type Pipeline } from "./pipeline.ts";
import type { ApiRequest, RequestBody, User } from "../framework/request.ts";
import { RequestTrail } from "../framework/recording/request-trail.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import type { WatchEvent } from "../framework/watch.ts";

export interface InProcessOptions {
  readonly user: User;
  /** Names the component, and so its default field manager: "kube-scheduler". */
  readonly userAgent: string;
}

/** Reads a document with this user's permissions. */
export type DocumentReader = (user: User, path: string, signal?: AbortSignal) => Promise<JsonObject>;

export function inProcessTransport(pipeline: Pipeline, options: InProcessOptions, readDocument: DocumentReader = noDocuments): Transport {
  return {
    document: (path, { signal } = {}) => readDocument(options.user, path, signal),

    async request(request) {
      const warnings: string[] = [];
      const trail = READING.includes(request.verb) ? undefined : new RequestTrail(() => pipeline.newRequestId());
      const outcome = await pipeline.runInProcess(apiRequest(request, options, { warnings, trail }));
      return responseOf(outcome, { verb: request.verb, warnings });
    },

    async watch(request, listener) {
      const outcome = await pipeline.runInProcess(apiRequest({ ...request, verb: "watch" }, options, { warnings: [], trail: undefined }));
      if (outcome.is !== "watch") throw badRequest("this resource does not support watch");
      return startWatch(outcome, listener);
    },
  };
}

function noDocuments(): Promise<never> {
  return Promise.reject(badRequest("the in-process transport serves resources only"));
}

interface Collected {
  readonly warnings: string[];
  readonly trail: RequestTrail | undefined;
}

function apiRequest(request: TransportRequest, { user, userAgent }: InProcessOptions, { warnings, trail }: Collected): ApiRequest {
  const { verb, group, version, plural, subresource = "", namespace = "", name = "", options = {}, signal, traceparent } = request;
  const { cause, leadership } = request;
  const body = bodyOf(request);
  return {
    verb,
    group,
    version,
    plural,
    subresource,
    namespace,
    name,
    options,
    ...(body === undefined ? {} : { body }),
    context: {
      user,
      isInProcess: true,
      userAgent,
      ...(signal === undefined ? {} : { signal }),
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(cause === undefined ? {} : { cause }),
      ...(leadership === undefined ? {} : { leadership }),
      ...(trail === undefined ? {} : { trail }),
      warn: (sentence) => void warnings.push(sentence),
    },
  };
}

function bodyOf({ object, patch }: TransportRequest): RequestBody | undefined {
  if (patch !== undefined) return { form: "patch", type: patch.type, patch: patch.value };
  return object === undefined ? undefined : { form: "object", object };
}

function responseOf(
  outcome: Outcome,
  { verb, warnings }: { readonly verb: Verb; readonly warnings: readonly string[] },
): TransportResponse {
  switch (outcome.is) {
    case "object":
      return { is: "object", object: outcome.object.in(outcome.endpoint.served), created: outcome.code === 201, warnings };
    case "list": {
      const { objects, revision, continue: token, remainingItemCount } = outcome.list;
      const metadata = {
        resourceVersion: String(revision),
        ...(token === undefined ? {} : { continue: token }),
        ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
      };
      return { is: "list", items: objects.map((object) => object.in(outcome.endpoint.served)), metadata, warnings };
    }
    case "value": {
      const { value } = outcome;
      // As over HTTP: the verb decides, since any kind of value may have items.
      if (verb === "list" && Array.isArray(value["items"]))
        return { is: "list", items: value["items"] as KubeObject[], metadata: {}, warnings };
      return { is: "value", value, warnings };
    }
    case "watch":
      throw badRequest("use watch() to start a watch");
    case "connection":
    case "document":
      throw badRequest(`${outcome.is}s are available over HTTP only`);
  }
}

function startWatch({ watch, endpoint }: Extract<Outcome, { is: "watch" }>, listener: TransportWatchListener): TransportWatch {
  return watch.start({
    event: (event) => listener.event(eventOf(event, endpoint)),
    ended: () => listener.ended(),
  });
}

function eventOf(event: WatchEvent, { served }: Endpoint): TransportEvent {
  switch (event.type) {
    case "BOOKMARK":
      return { type: "BOOKMARK", resourceVersion: String(event.revision), initialEventsEnd: event.initialEventsEnd };
    case "ERROR":
      return event;
    default:
      return { type: event.type, object: event.object.in(served) };
  }
}
