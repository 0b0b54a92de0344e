/**
 * The contract of connections: subresources that are served by a node or a Pod instead of the store (log, exec, attach, portforward,
 * proxy). A resolver finds the target of one; connections/all.ts lists them.
 */
import type { JsonObject } from "../../api/machinery/object.ts";
import type { Random } from "../../base/random.ts";
import type { ApiServerConfig } from "./api-server-config.ts";
import type { Endpoint, Endpoints } from "./endpoints.ts";
import type { ConnectionTarget } from "./node-connector.ts";
import type { ApiRequest } from "./request.ts";

/** The part of the ServerContext that resolvers use. */
export interface ResolveContext {
  readonly endpoints: Endpoints;
  readonly config: ApiServerConfig;
  readonly random: Random;
}

/** A request whose options are decoded and valid. */
export interface ResolveCall {
  readonly endpoint: Endpoint;
  readonly request: ApiRequest;
  readonly options: JsonObject;
}

/** Resolves the target of a connection; undefined: it does not exist yet, and the response is empty. Throws a StatusError. */
export type Resolver = (server: ResolveContext, call: ResolveCall) => Promise<ConnectionTarget | undefined>;

/** The resolver of a subresource by `<plural>[.<group>]/<subresource>`. */
export type Resolvers = ReadonlyMap<string, Resolver>;
