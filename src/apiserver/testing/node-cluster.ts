/**
 * A cluster for tests of node permissions: nodes `n1` and `n2`, namespace `ns`, and shortcuts to create objects and to send requests as a
 * node.
 */
import assert from "node:assert/strict";
import type { JsonObject } from "../../api/machinery/object.ts";
import { DEFAULT_ADMISSION_CONFIG } from "../framework/admission-config.ts";
import type { ApiServerConfig } from "../framework/api-server-config.ts";
import type { User } from "../framework/request.ts";
import { startServer, type CallAnswer, type StartedServer } from "./server.ts";

export const MERGE_PATCH = { "content-type": "application/merge-patch+json" };

/** Authorizes everyone: rejections are admission's. */
export const ALL_ALLOWED = ["Node", "AlwaysAllow"];

export function nodeUser(name: string): User {
  return { name: `system:node:${name}`, groups: ["system:nodes"] };
}

export async function startNodeCluster(
  authorizationModes: readonly string[] = ["Node", "RBAC"],
  config: Partial<ApiServerConfig> = {},
): Promise<StartedServer> {
  const disabledPlugins = ["ServiceAccount", "StorageObjectInUseProtection", "TaintNodesByCondition"];
  const admission = { ...DEFAULT_ADMISSION_CONFIG, disabledPlugins };
  const server = await startServer({ config: { authorizationModes, admission, ...config } });
  for (const name of ["ns", "other"]) await make(server, "/api/v1/namespaces", { metadata: { name } });
  for (const name of ["n1", "n2"]) await make(server, "/api/v1/nodes", { metadata: { name } });
  return server;
}

/** Created by the administrator. */
export async function make(server: StartedServer, path: string, object: JsonObject): Promise<CallAnswer["body"]> {
  const { code, body } = await server.call("POST", path, object);
  assert.equal(code, 201, `${path}: ${body.message}`);
  return body;
}

export function aPod(name: string, spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { metadata: { name, ...metadata }, spec: { containers: [{ name: "c", image: "i" }], ...spec } };
}

/** "200", or the code and the message. */
export function answerOf({ code, body }: CallAnswer): string {
  return code < 400 ? String(code) : `${code} ${body.message}`;
}

/** Sends a request as a user; a PATCH is a merge patch. */
export async function ask(
  server: StartedServer,
  user: User,
  [method, path, body]: readonly [method: string, path: string, body?: JsonObject],
): Promise<string> {
  return answerOf(await server.as(user).call(method, path, body, method === "PATCH" ? MERGE_PATCH : {}));
}
