/**
 * The contract of admission: plugins that may change or reject a write after authorization, before it is validated and stored. One folder
 * or file per plugin, independent of each other; all.ts lists them in order.
 */
import type { EvaluationTurns } from "../../cel/program/evaluation-turns.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { ManagedFields } from "../../api/machinery/apply/managed-fields.ts";
import type { KubeObject, ManagedFieldsEntry } from "../../api/machinery/object.ts";
import type { Operation, Store } from "../../store/store.ts";
import type { AdmissionConfig } from "./admission-config.ts";
import type { AdmissionMetrics } from "./admission/admission-metrics.ts";
import type { Authorizer } from "./authorization.ts";
import type { Causes } from "./recording/causes.ts";
import type { Endpoint, Endpoints } from "./endpoints.ts";
import type { Objects } from "./objects.ts";
import type { RequestContext } from "./request.ts";
import type { RequestOptions } from "../../api/machinery/transport.ts";
import type { DeleteOptions } from "./storage/delete-options.ts";
import type { WebhookCaller } from "./webhook-caller.ts";

export interface AdmissionRequest {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly endpoint: Endpoint;
  readonly subresource: string;
  readonly namespace: string;
  /** "" if the server will generate it from generateName, and for a collection. */
  readonly name: string;
  /** In the version of the request. Absent for DELETE. For CONNECT: the options (PodExecOptions), which have no metadata. */
  readonly object?: KubeObject;
  /** The existing object, in the version of the request. Absent for CREATE and CONNECT. */
  readonly oldObject?: KubeObject;
  /** Owners of the fields of `object`. Absent if `object` is not stored. */
  readonly managed?: AdmittedOwners;
  /** Owners of the fields of `oldObject`. */
  readonly oldManaged?: () => ManagedFields;
  readonly dryRun: boolean;
  /** Those of the request; for DELETE its DeleteOptions. Absent for CONNECT. */
  readonly options?: OperationOptions;
  /** Set while the mutating plugins are called. */
  readonly reinvocation?: Reinvocation;
  readonly context: RequestContext;
}

/** Owners of the fields of an object that is to be stored. */
export interface AdmittedOwners {
  /** As the write of the client leaves them, computed on the first call, or as a plugin replaced them. */
  entries(): readonly ManagedFieldsEntry[];
  /** For plugins that run code of others. Invalid entries are dropped after the last plugin, with a warning to the client. */
  replace(entries: readonly ManagedFieldsEntry[]): void;
}

/** Members that CreateOptions, UpdateOptions or DeleteOptions have. */
export type OperationOptions = Pick<RequestOptions, "fieldManager" | "fieldValidation"> & DeleteOptions;

/**
 * A plugin that runs code of others may require that all mutating plugins are called once more, so that those before it see its changes.
 */
export interface Reinvocation {
  /** True in the second round. */
  readonly isSecondRound: boolean;
  /** Requires a second round; has no effect during it. */
  invokeAgain(): void;
  /** State of plugins between the two rounds, by plugin name. */
  readonly state: Map<string, unknown>;
}

export interface AdmissionPlugin {
  /** The name in upstream's flags: "NamespaceLifecycle". */
  readonly name: string;
  /** Called in order before validation. Returns the changed object, or undefined to leave it unchanged; throws a StatusError to reject. */
  mutate?(request: AdmissionRequest): Promise<KubeObject | undefined> | KubeObject | undefined;
  /** Called in order for a DELETE, before any `validate`. There is no object to change; throws a StatusError to reject. */
  mutateDelete?(request: AdmissionRequest): Promise<void> | void;
  /** Called in order after validation. Throws a StatusError to reject. Returns a charge if the write uses quota. */
  validate?(request: AdmissionRequest): Promise<Charge | void> | Charge | void;
  /** Resolves when the objects that it decides by are loaded. Called once, before the first external request. */
  start?(): Promise<void>;
}

/** Usage that a write charges to a limit (a quota), and that is refunded if the write does not happen. */
export interface Charge {
  /**
   * Committed with the object or not at all. Only of other kinds than the object's, and at most one object per kind: a commit has one
   * revision. If only these conflict, another writer was first, and the whole request is repeated: mutating, validating, charging.
   */
  readonly alongside?: readonly Operation[];
  /** Called exactly once, when the result of the write is known. Never with true in a dry run. */
  settle(written: boolean): Promise<void> | void;
}

/** What plugins may use. */
export interface AdmissionDependencies {
  readonly endpoints: Endpoints;
  readonly objects: Objects;
  /** For plugins that check further permissions of the user. */
  readonly authorizer: Authorizer;
  readonly config: AdmissionConfig;
  readonly store: Store;
  /** Calls servers that decide on admission. */
  readonly webhooks: WebhookCaller;
  readonly metrics: AdmissionMetrics;
  /** Where a plugin that commits an object itself records it. */
  readonly causes: Causes;
  /** Completes expressions that take long, without holding the event loop. */
  readonly evaluations: EvaluationTurns;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export type AdmissionPluginFactory = (dependencies: AdmissionDependencies) => AdmissionPlugin;

/** All plugins in their order; write/admission-chain.ts implements it. */
export interface Admission {
  /** Returns the object as changed by the plugins. */
  mutate(request: AdmissionRequest, object: KubeObject): Promise<KubeObject> | KubeObject;
  /** If one plugin rejects, the charges of the others are refunded. */
  validate(request: AdmissionRequest): Promise<Charge>;
  /** Resolves when all plugins have loaded what they decide by. */
  start(): Promise<void>;
}
