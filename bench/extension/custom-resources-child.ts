/** One API server in its own process, without sockets: the whole way of a request between its bytes and the store in memory. */
import { realClock } from "../../src/host/real-clock.ts";
import { monitors } from "../../src/apiserver/customresources/testing/operators.ts";
import { startServer, type StartedServer } from "../../src/apiserver/testing/server.ts";
import type { Clock } from "../../src/base/clock.ts";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import { memoryStore } from "../../src/testing/fixtures/memory-store.ts";
import { collectGarbage, serve } from "../serve.ts";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const APPLY = { "content-type": "application/apply-patch+yaml" };

export type Subject = "configmap" | "custom";
export type Operation = "create" | "get" | "list" | "apply";

/** A custom resource that looks like a ConfigMap. */
const SETTINGS: JsonObject = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "settings.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "settings", singular: "setting", kind: "Setting" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { data: { type: "object", additionalProperties: { type: "string" } } } } },
      },
    ],
  },
};

const PATHS: Readonly<Record<Subject, string>> = {
  configmap: "/api/v1/namespaces/default/configmaps",
  custom: "/apis/example.com/v1/namespaces/default/settings",
};
const LISTED = 500;
/** Objects are deleted after so many creates, so that lists stay of one size. */
const CREATED_MAX = 2_000;

/** Definitions that are added to the installed ones, one by one. */
const SERVED_SAMPLES = 20;

let started: StartedServer<Clock> | undefined;
let number = 0;

const tasks = {
  /** Starts the server with the objects that are read. */
  async prepare(): Promise<void> {
    started = await start();
    await request("POST", CRDS, SETTINGS);
    for (const subject of ["configmap", "custom"] as const) {
      await until(async () => (await call("GET", PATHS[subject])).code === 200);
      for (let index = 0; index < LISTED; index++) await request("POST", PATHS[subject], objectOf(subject, `kept-${index}`));
    }
  },

  /** Operations per second. */
  async rate({ subject, operation, durationMs }: RateOptions): Promise<number> {
    const startedMs = performance.now();
    let count = 0;
    while (performance.now() - startedMs < durationMs && count < CREATED_MAX) {
      await operate(subject, operation, count);
      count++;
    }
    const perSecond = (count * 1_000) / (performance.now() - startedMs);
    if (operation === "create") await call("DELETE", `${PATHS[subject]}?labelSelector=made%3Dhere`);
    return perSecond;
  },

  /** Installs definitions with several hundred fields each; reads the documents cold and warm; starts another server on the same store. */
  async install({ count }: { readonly count: number }): Promise<Installed> {
    const store = memoryStore(realClock);
    collectGarbage();
    const emptyMs = await startMs(memoryStore(realClock));
    started = await start(store);
    const before = memoryBytes();
    const startedMs = performance.now();
    for (let index = 0; index < count; index++) await request("POST", CRDS, monitors(`group${index}.example.com`));
    await until(async () => (await call("GET", `/apis/group${count - 1}.example.com/v1/monitors`)).code === 200);
    const installedMs = performance.now() - startedMs;
    const coldMs = await documentsMs();
    const warmMs = await documentsMs();
    const grownBytes = memoryBytes() - before;
    const servedMs: number[] = [];
    for (let index = 0; index < SERVED_SAMPLES; index++) servedMs.push(await msUntilServed(`added${index}.example.com`));
    return {
      servedMs,
      perSecond: (count * 1_000) / installedMs,
      bytesEach: grownBytes / count,
      coldMs,
      warmMs,
      emptyMs,
      fullMs: await startMs(store),
    };
  },
};

interface RateOptions {
  readonly subject: Subject;
  readonly operation: Operation;
  readonly durationMs: number;
}

export interface Installed {
  readonly perSecond: number;
  /** From the request that creates a definition to the first response with its objects, beside all others; several samples. */
  readonly servedMs: readonly number[];
  /** Memory of a definition that is installed and was read in all documents. */
  readonly bytesEach: number;
  /** The slowest document. */
  readonly coldMs: number;
  readonly warmMs: number;
  /** Start of an API server on an empty store, and on one with the definitions. */
  readonly emptyMs: number;
  readonly fullMs: number;
}

function start(store = memoryStore(realClock)): Promise<StartedServer<Clock>> {
  return startServer({ clock: realClock, store, config: { freezeObjects: false, authorizationModes: [] } });
}

async function msUntilServed(group: string): Promise<number> {
  const startedMs = performance.now();
  await request("POST", CRDS, monitors(group));
  await until(async () => (await call("GET", `/apis/${group}/v1/monitors`)).code === 200);
  return performance.now() - startedMs;
}

async function startMs(store: ReturnType<typeof memoryStore>): Promise<number> {
  const startedMs = performance.now();
  const { server } = await start(store);
  const tookMs = performance.now() - startedMs;
  await server.close();
  return tookMs;
}

function call(...request: Parameters<StartedServer["call"]>): ReturnType<StartedServer["call"]> {
  if (started === undefined) throw new Error("The server is not started");
  return started.call(...request);
}

async function request(method: string, path: string, body: JsonObject): Promise<void> {
  const { code, text } = await call(method, path, body);
  if (code >= 300) throw new Error(`${method} ${path}: ${text}`);
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => void setImmediate(resolve));
}

function objectOf(subject: Subject, name: string, labels: JsonObject = {}): JsonObject {
  const type = subject === "configmap" ? { apiVersion: "v1", kind: "ConfigMap" } : { apiVersion: "example.com/v1", kind: "Setting" };
  return { ...type, metadata: { name, labels }, data: { mode: "fast", address: "https://example.com/settings", lines: "a\nb\nc" } };
}

async function operate(subject: Subject, operation: Operation, index: number): Promise<void> {
  const path = PATHS[subject];
  switch (operation) {
    case "create":
      return request("POST", path, objectOf(subject, `made-${number++}`, { made: "here" }));
    case "get":
      return void (await call("GET", `${path}/kept-${index % LISTED}`));
    case "list":
      return void (await call("GET", path));
    case "apply": {
      const applied = { ...objectOf(subject, `kept-${index % LISTED}`), data: { mode: `m${number++}` } };
      return void (await call("PATCH", `${path}/kept-${index % LISTED}?fieldManager=bench&force=true`, JSON.stringify(applied), APPLY));
    }
  }
}

async function documentsMs(): Promise<number> {
  let slowestMs = 0;
  for (const path of ["/apis", "/openapi/v2", "/openapi/v3", "/openapi/v3/apis/group0.example.com/v1"]) {
    const startedMs = performance.now();
    await call("GET", path);
    slowestMs = Math.max(slowestMs, performance.now() - startedMs);
  }
  return slowestMs;
}

/** Documents are kept as bytes, outside of the heap. */
function memoryBytes(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

export type CustomResourceTasks = typeof tasks;
serve(tasks);
