/**
 * Common base of the security tests: a server with real RBAC, a namespace of the attacker and one of the victim, and tables of attempts.
 * Every row is a published way around the rules of a Kubernetes API server; here it must be rejected.
 */
import assert from "node:assert/strict";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import type { ApiServerOptions } from "../../src/apiserver/api-server.ts";
import type { User } from "../../src/apiserver/framework/request.ts";
import type { CallAnswer, SentHeaders, StartedServer } from "../../src/apiserver/testing/server.ts";
import { startControlledServer } from "../../src/testing/servers/controlled-server.ts";

export const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const RBAC_GROUP = "rbac.authorization.k8s.io";

/** Content that must never be visible without permission. */
export const TREASURE = "escape-treasure";

export const EVE: User = { name: "eve", groups: [] };

export type Sent = readonly [
  method: string,
  path: string,
  body?: JsonObject | readonly unknown[] | string | undefined,
  headers?: SentHeaders,
];

export interface Attempt {
  /** The published finding, in our words. */
  readonly it: string;
  readonly sends: Sent;
  /** The code of the rejection, or the code and a part of its message. */
  readonly gets: number | string;
}

/** Namespaces "own" and "victim", each with a Secret "treasure"; "own" also has the Secret "open". */
export async function startEscapeServer(
  options: Omit<Partial<ApiServerOptions>, "clock"> & { readonly controllers?: readonly string[] } = {},
): Promise<StartedServer> {
  const { controllers = [], ...more } = options;
  const server = await startControlledServer(controllers, more);
  for (const name of ["own", "victim"]) {
    await make(server, "/api/v1/namespaces", { metadata: { name } });
    await make(server, `/api/v1/namespaces/${name}/secrets`, { metadata: { name: "treasure" }, stringData: { key: TREASURE } });
  }
  await make(server, "/api/v1/namespaces/own/secrets", { metadata: { name: "open" }, stringData: { key: "public" } });
  return server;
}

/** Creates an object as the administrator. */
export async function make(server: StartedServer, path: string, object: JsonObject): Promise<CallAnswer["body"]> {
  const { code, text } = await server.call("POST", path, object);
  assert.equal(code, 201, `${path}: ${text}`);
  return JSON.parse(text);
}

export type Rule = {
  readonly verbs: readonly string[];
  /** Default: the core group. */
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
};

let grants = 0;

/** Grants permissions in a namespace; in "" cluster-wide. */
export async function grant(server: StartedServer, { name }: User, namespace: string, rules: readonly Rule[]): Promise<void> {
  const [place, kind, role] = [
    namespace === "" ? "" : `/namespaces/${namespace}`,
    namespace === "" ? "ClusterRole" : "Role",
    `g${++grants}`,
  ];
  const [roles, bindings] = namespace === "" ? ["clusterroles", "clusterrolebindings"] : ["roles", "rolebindings"];
  const written = rules.map((rule) => (rule.nonResourceURLs === undefined ? { apiGroups: [""], ...rule } : rule)) as JsonObject[];
  await make(server, `${RBAC}${place}/${roles}`, { metadata: { name: role }, rules: written });
  await make(server, `${RBAC}${place}/${bindings}`, {
    metadata: { name: role },
    roleRef: { apiGroup: RBAC_GROUP, kind, name: role },
    subjects: [{ apiGroup: RBAC_GROUP, kind: "User", name }],
  });
}

export function allow(verbs: string, resources: string, ...resourceNames: readonly string[]): Rule {
  const [resource = "", group = ""] = resources.split(/\.(.*)/s);
  const [plural = "", subresource] = resource.split("/");
  const written = subresource === undefined ? plural : `${plural}/${subresource}`;
  return { verbs: verbs.split(","), apiGroups: [group], resources: [written], ...(resourceNames.length === 0 ? {} : { resourceNames }) };
}

/** Sends an attempt and returns the response. */
export async function attempt(server: StartedServer, user: User, [method, path, body, headers = {}]: Sent): Promise<CallAnswer> {
  const asked = server.as(user);
  const isPatch = method === "PATCH" && headers["content-type"] === undefined;
  return asked.call(method, path, body, isPatch ? { "content-type": "application/merge-patch+json", ...headers } : headers);
}

/** Fails unless the attempt is rejected as the row says, without any content of the treasure. */
export async function mustBeRefused(server: StartedServer, user: User, { sends, gets }: Omit<Attempt, "it">): Promise<void> {
  const { code, text } = await attempt(server, user, sends);
  const [expected, message] = typeof gets === "number" ? [gets, ""] : [Number(gets.slice(0, 3)), gets.slice(4)];
  assert.equal(code, expected, text);
  assert.ok(text.includes(message), `${JSON.stringify(message)} is missing in ${text}`);
  assert.ok(!text.includes(TREASURE) && !text.includes(btoa(TREASURE)), text);
}
