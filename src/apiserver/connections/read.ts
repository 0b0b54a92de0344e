/**
 * Reads the objects on the way to a connection's target. A missing one is reported as upstream does: as an object of the resource in the
 * path.
 */
import type { KubeObject } from "../../api/machinery/object.ts";
import { notFound } from "../../api/machinery/status-error.ts";
import type { ResolveCall, ResolveContext } from "../framework/connection.ts";

export interface CoreObjectName {
  readonly plural: "endpoints" | "nodes" | "pods" | "services";
  /** "" for nodes. */
  readonly namespace: string;
  readonly name: string;
}

export async function findObject<T extends KubeObject>(
  { endpoints }: ResolveContext,
  { plural, namespace, name }: CoreObjectName,
): Promise<T | undefined> {
  const stored = await endpoints.stored("", plural)?.storage.get({ namespace, name });
  return stored?.object as T | undefined;
}

export async function readObject<T extends KubeObject>(
  server: ResolveContext,
  { endpoint }: ResolveCall,
  name: CoreObjectName,
): Promise<T> {
  const object = await findObject<T>(server, name);
  if (object === undefined) throw notFound(endpoint.name, name.name);
  return object;
}
