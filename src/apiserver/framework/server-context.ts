/** What every part of the API server's core may use; created once, in api-server.ts. */
import type { EvaluationTurns } from "../../cel/program/evaluation-turns.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { SchemaSet } from "../../api/machinery/schema.ts";
import type { Store } from "../../store/store.ts";
import type { Aggregation } from "./apis/aggregation.ts";
import type { Admission } from "./admission.ts";
import type { ApiServerConfig } from "./api-server-config.ts";
import type { Authenticator } from "./authentication.ts";
import type { Authorizer } from "./authorization.ts";
import type { Causes } from "./recording/causes.ts";
import type { Identity } from "./identity.ts";
import type { Objects } from "./objects.ts";
import type { Resolvers } from "./connection.ts";
import type { ObjectWrites } from "./storage/writes.ts";
import type { DynamicApi } from "./apis/dynamic-api.ts";
import type { Endpoints } from "./endpoints.ts";
import type { ResourceExtension } from "./extension.ts";
import type { NodeConnector } from "./node-connector.ts";
import type { WebhookCaller } from "./webhook-caller.ts";

export interface ServerContext {
  readonly store: Store;
  readonly endpoints: Endpoints;
  readonly objects: Objects;
  readonly schemas: SchemaSet;
  readonly admission: Admission;
  /** Groups and versions of other API servers. */
  readonly aggregation: Aggregation;
  readonly identity: Identity;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  /** Absent: no node can be reached, so connections to Pods and nodes fail. */
  readonly connector?: NodeConnector;
  /** Calls admission and conversion webhooks. */
  readonly webhooks: WebhookCaller;
  /** Where every commit of an object is recorded. */
  readonly causes: Causes;
  readonly config: ApiServerConfig;
  /** Completes expressions that take long, without holding the event loop. */
  readonly evaluations: EvaluationTurns;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** The resolvers of connections, looked up by the verb. */
  readonly resolvers: Resolvers;
  /** Writes that a plugin makes in addition to the requested one. */
  readonly writes: ObjectWrites;
  /** Groups whose resources are data; in the order of discovery, after all other groups. */
  readonly dynamicApis: readonly DynamicApi[];
  /** What a kind needs beyond its declaration, if anything. */
  extension(group: string, plural: string): ResourceExtension | undefined;
}

/** Creates groups whose resources are data; none if they are disabled. Called once, before the first request. */
export type DynamicApiFactory = (server: ServerContext) => readonly DynamicApi[];

/** Creates the extension of one kind. Called once, before the first request. */
export type ExtensionFactory = (server: ServerContext) => ResourceExtension;
