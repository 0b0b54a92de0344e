/**
 * The kind Database in its two versions, and pure functions over it: conversion, validation, defaults, the objects of a Database and its
 * status. Not here: reading and writing objects (database-controller.ts), HTTPS (operator.ts).
 */
import type { Draft, KubeObject, ResourceKind } from "k8ts/client";
import type { appsV1 } from "k8ts/kinds";

export const GROUP = "example.k8ts.dev";

/** The version that the controller uses, and that is stored. */
export interface Database extends KubeObject {
  readonly spec: {
    readonly engine: { readonly name: string; readonly version: string };
    readonly storage: { readonly size: string };
    readonly replicas: number;
  };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** The first version, which old manifests use: "postgres:18" and a size on the top level. */
export interface OldDatabase extends KubeObject {
  readonly spec: { readonly engine: string; readonly size: string; readonly replicas?: number };
  readonly status?: Database["status"];
}

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
  readonly lastTransitionTime: string;
}

export const databases: ResourceKind<Database> = {
  kind: "Database",
  plural: "databases",
  scope: "Namespaced",
  storage: { group: GROUP, version: "v1" },
};

// ── versions ────────────────────────────────────────────────────────────────────────────────────────

const OLD = `${GROUP}/v1alpha1`;
const NEW = `${GROUP}/v1`;

/** The conversion webhook. Nothing is lost in either direction. */
export function convert(object: KubeObject, apiVersion: string): KubeObject {
  if (apiVersion === NEW && object.apiVersion === OLD) return toNew(object as OldDatabase);
  if (apiVersion === OLD && object.apiVersion === NEW) return toOld(object as Database);
  throw new Error(`cannot convert ${object.apiVersion} to ${apiVersion}`);
}

function toNew({ spec, ...rest }: OldDatabase): KubeObject {
  const { engine, size, ...same } = spec;
  const [name = "", version = ""] = engine.split(":");
  return { ...rest, apiVersion: NEW, spec: { ...same, engine: { name, version }, storage: { size } } } as KubeObject;
}

function toOld({ spec, ...rest }: Database): KubeObject {
  const { engine, storage, ...same } = spec;
  return { ...rest, apiVersion: OLD, spec: { ...same, engine: `${engine.name}:${engine.version}`, size: storage.size } } as KubeObject;
}

// ── admission ───────────────────────────────────────────────────────────────────────────────────────

export const ENGINE_LABEL = `${GROUP}/engine`;

/** The mutating webhook: every Database has its engine as a label, so that it can be selected. */
export function withLabels(database: Database): Database {
  const { metadata, spec } = database;
  return { ...database, metadata: { ...metadata, labels: { ...metadata.labels, [ENGINE_LABEL]: spec.engine.name } } };
}

/** The validating webhook. Undefined: valid. Rules that need the cluster or a computation are webhooks; simple ones are in the schema. */
export function problemOf(database: Database, before?: Database): string | undefined {
  if (before === undefined) return undefined;
  const [size, sizeBefore] = [gibibytes(database.spec.storage.size), gibibytes(before.spec.storage.size)];
  if (size < sizeBefore) return `spec.storage.size cannot shrink from ${before.spec.storage.size} to ${database.spec.storage.size}`;
  const [name, nameBefore] = [database.spec.engine.name, before.spec.engine.name];
  return name === nameBefore ? undefined : `spec.engine.name cannot change from ${nameBefore} to ${name}`;
}

/** The schema accepts only this form. */
function gibibytes(size: string): number {
  return Number(size.replace(/Gi$/, ""));
}

// ── objects ─────────────────────────────────────────────────────────────────────────────────────────

export function deploymentOf({ metadata: { name, namespace }, spec }: Database): Draft<appsV1.Deployment> {
  const labels = { [`${GROUP}/database`]: name };
  const { engine, storage, replicas } = spec;
  const containers = [
    { name: "database", image: `${engine.name}:${engine.version}`, env: [{ name: "STORAGE_SIZE", value: storage.size }] },
  ];
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), labels },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  };
}

// ── status ──────────────────────────────────────────────────────────────────────────────────────────

/** The Database with the condition "Ready", or the same object if nothing changes. */
export function withReady(database: Database, deployment: appsV1.Deployment | undefined, nowMs: number): Database {
  const { replicas } = database.spec;
  const ready = deployment?.status?.availableReplicas ?? 0;
  const isReady = ready >= replicas;
  const [before] = database.status?.conditions ?? [];
  const status = isReady ? "True" : "False";
  const condition: Condition = {
    type: "Ready",
    status,
    reason: isReady ? "AllReady" : "Progressing",
    message: `${ready} of ${replicas} replicas are ready`,
    observedGeneration: database.metadata.generation ?? 0,
    lastTransitionTime: before?.status === status ? before.lastTransitionTime : `${new Date(nowMs).toISOString().slice(0, 19)}Z`,
  };
  if (before !== undefined && JSON.stringify(before) === JSON.stringify(condition)) return database;
  const same = before?.message === condition.message && before.status === status && before.observedGeneration === condition.observedGeneration;
  return same ? database : { ...database, status: { conditions: [condition] } };
}
