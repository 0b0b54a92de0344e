/** Routes of faults. */
import type { Fault } from "../faults/fault.ts";
import { badRequest } from "../problem.ts";
import type { Fields } from "./fields.ts";
import { defineRoute } from "./route.ts";

const VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"] as const;

/** Longer than the timeouts of usual clients. */
const DELAY_MAX_MS = 3_600_000;

/** More requests than a suite sends. */
const COUNT_MAX = 1_000_000_000;

const MATCH = {
  verb: { type: "string", values: VERBS, doc: "Verb of the API." },
  group: { type: "string", doc: `API group; "" is the core group.` },
  resource: { type: "string", doc: "Plural name, such as pods." },
  subresource: { type: "string", doc: `Such as status; "" is the resource itself. Default: either.` },
  namespace: { type: "string", doc: "Namespace of the request." },
  name: { type: "string", doc: "Name of the object; requests to create have none." },
  path: { type: "string", doc: "Path of the URL, for requests that are not for a resource, such as /version." },
  userAgent: { type: "string", doc: "User agent, such as kubectl*." },
  user: { type: "string", doc: "User name, such as system:serviceaccount:default:operator." },
} as const satisfies Fields;

const HOW = {
  type: "string",
  values: ["end", "reset"],
  doc: "end: closed by the server (default). reset: the connection breaks.",
} as const;

const FAULT = {
  match: { type: "object", fields: MATCH, doc: `All that are set must match; "*" at the end of a text matches any rest. Default: all.` },
  delay: { type: "duration", maxMs: DELAY_MAX_MS, max: "1h", doc: "Waits in the cluster's time before anything else." },
  status: {
    type: "object",
    doc: "Answers with this status instead of serving the request.",
    fields: {
      code: { type: "integer", min: 400, max: 599, required: true, doc: "HTTP code, such as 409, 429 or 500." },
      reason: { type: "string", doc: "Reason of the Status. Default: that of the code." },
      message: { type: "string", doc: "Message of the Status. Default: names the fault." },
      retryAfterSeconds: { type: "integer", min: 0, max: 86_400, doc: "Sets the header Retry-After." },
    },
  },
  resetConnection: { type: "boolean", doc: "Closes the connection without an answer." },
  dropWatch: {
    type: "object",
    doc: "Serves the watch and drops it, at once by default.",
    fields: {
      afterEvents: { type: "integer", min: 0, max: COUNT_MAX, doc: "Passes this many events first, bookmarks included." },
      after: { type: "duration", maxMs: DELAY_MAX_MS, max: "1h", doc: "Passes events for this long, in the cluster's time." },
      how: HOW,
    },
  },
  times: { type: "integer", min: 1, max: COUNT_MAX, doc: "Applies to this many requests. Default: all." },
  skip: { type: "integer", min: 0, max: COUNT_MAX, doc: "Serves this many matching requests first." },
  probability: { type: "number", min: 0, max: 1, doc: "Applies to this share of the matching requests, chosen from the seed." },
  seed: { type: "integer", min: 0, max: 2 ** 32 - 1, doc: "Default: 1." },
} as const satisfies Fields;

const COUNT = { type: "integer", min: 0, max: Number.MAX_SAFE_INTEGER, required: true } as const;

const ADDED = {
  id: { type: "string", required: true, doc: "For DELETE." },
  ...FAULT,
  matched: { ...COUNT, doc: "Requests that it matched." },
  injected: { ...COUNT, doc: "Requests that it was injected into." },
} as const satisfies Fields;

const PATH = "/v1/clusters/{cluster}/faults";

export const faultRoutes = [
  defineRoute({
    method: "GET",
    path: PATH,
    operation: "listFaults",
    summary: "Lists the faults with their counts.",
    answer: { faults: { type: "list", fields: ADDED, required: true, doc: "In the order in which they are tried." } },
    handle: async ({ control, parameters }) => ({ faults: control.cluster(parameters.cluster).faults.list().map(describe) }),
  }),
  defineRoute({
    method: "POST",
    path: PATH,
    operation: "addFault",
    summary:
      "Injects a fault into matching requests of clients, and of components if it names a user. The first fault that applies to a request is injected.",
    body: FAULT,
    answer: ADDED,
    async handle({ control, parameters, body }) {
      const { delay, status, resetConnection, dropWatch } = body;
      const effects = [status, resetConnection === true ? true : undefined, dropWatch].filter((effect) => effect !== undefined);
      if (effects.length > 1) throw badRequest("status, resetConnection and dropWatch exclude each other", "Add one fault for each");
      if (effects.length === 0 && delay === undefined)
        throw badRequest("The fault does nothing", "Set delay, status, resetConnection or dropWatch");
      return describe(control.cluster(parameters.cluster).faults.add(body));
    },
  }),
  defineRoute({
    method: "DELETE",
    path: PATH,
    operation: "clearFaults",
    summary: "Removes all faults. A reset does the same.",
    answer: {},
    async handle({ control, parameters }) {
      control.cluster(parameters.cluster).faults.clear();
      return {};
    },
  }),
  defineRoute({
    method: "DELETE",
    path: `${PATH}/{fault}`,
    operation: "removeFault",
    summary: "Removes one fault.",
    answer: {},
    async handle({ control, parameters }) {
      control.cluster(parameters.cluster).faults.remove(parameters.fault);
      return {};
    },
  }),
  defineRoute({
    method: "POST",
    path: "/v1/clusters/{cluster}/watches/drop",
    operation: "dropWatches",
    summary: "Drops the running watches that match: of clients, and of components if the match names a user.",
    body: { match: FAULT.match, how: HOW },
    answer: { dropped: { ...COUNT, doc: "Number of watches that were dropped." } },
    async handle({ control, parameters, body }) {
      const how = body.how === "reset" ? "reset" : "end";
      return { dropped: control.cluster(parameters.cluster).dropWatches(body.match ?? {}, how) };
    },
  }),
];

function describe({ id, spec, counts }: Fault): object {
  return { id, ...spec, ...counts };
}
