/**
 * The stages of a create, each called alone and repeatedly with the same input, on a core with default admission and the embedded store.
 * Alone, the code of a stage stays in the caches of the processor, so that a whole request costs more than the sum; what a stage allocates
 * is the same.
 */
import { join } from "node:path";
import v8 from "node:v8";
import { trackUpdate, ManagedFields } from "../../src/api/machinery/apply/managed-fields.ts";
import { decodeBySchema } from "../../src/api/machinery/codec/decode.ts";
import { parseJson } from "../../src/api/machinery/codec/json.ts";
import type { KubeObject } from "../../src/api/machinery/object.ts";
import { all as admissionPlugins } from "../../src/apiserver/admission/all.ts";
import { AuthorizationChain } from "../../src/apiserver/authorization/chain.ts";
import { DEFAULT_ADMISSION_CONFIG } from "../../src/apiserver/framework/admission-config.ts";
import type { AdmissionRequest } from "../../src/apiserver/framework/admission.ts";
import type { Endpoint } from "../../src/apiserver/framework/endpoints.ts";
import type { RequestContext } from "../../src/apiserver/framework/request.ts";
import { ignoredFields } from "../../src/apiserver/framework/storage/ignored-fields.ts";
import { Encoder } from "../../src/apiserver/rest/encoder.ts";
import { answerForm } from "../../src/apiserver/rest/negotiation.ts";
import { AdmissionCounters } from "../../src/apiserver/shared/admission/admission-counters.ts";
import { CachedObjects } from "../../src/apiserver/storage/cached-objects.ts";
import { RecordedCauses } from "../../src/apiserver/storage/recorded-causes.ts";
import { startServer } from "../../src/apiserver/testing/server.ts";
import { webhookCalls } from "../../src/apiserver/webhooks/webhook-calls.ts";
import { AdmissionChain } from "../../src/apiserver/write/admission-chain.ts";
import { validateCreate } from "../../src/apiserver/write/validation.ts";
import { schemas } from "../../src/api/schemas.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { EvaluationTurns } from "../../src/cel/program/evaluation-turns.ts";
import { realClock } from "../../src/host/real-clock.ts";
import { realRandom } from "../../src/host/real-random.ts";
import { openEmbeddedStore } from "../../src/store/embedded/embedded-store.ts";
import { collectGarbage, serve } from "../serve.ts";
import { configMapManifest, createAccount, podManifest } from "./objects.ts";

export const STAGES = ["parse", "decode", "default", "admit", "own", "validate", "encode", "commit", "answer"] as const;
export const KINDS = ["configmap", "pod"] as const;

export interface StageCost {
  readonly stage: (typeof STAGES)[number];
  readonly kind: (typeof KINDS)[number];
  readonly processorUs: number;
  readonly allocatedKb: number;
}

/** V8 compiles a function after thousands of calls. */
const WARM_UP_CALLS = 5_000;
const CALLS = 2_000;
/** Commits in flight, which share a sync. */
const CONCURRENCY = 64;

type Stages = Readonly<Record<StageCost["stage"], () => unknown>>;

const context: RequestContext = { user: { name: "admin", groups: ["system:masters"] }, userAgent: "bench", warn() {} };

async function startCore(directory: string) {
  const store = await openEmbeddedStore({ directory: join(directory, "stages"), clock: realClock, log: silentLogger });
  const core = await startServer({ store, clock: realClock, config: { freezeObjects: false } });
  await createAccount(core.transport());
  const { endpoints } = core.server;
  const objects = new CachedObjects(endpoints);
  const metrics = new AdmissionCounters();
  const shared = { objects, clock: realClock, log: silentLogger, random: realRandom() };
  const dependencies = {
    ...shared,
    ...{ endpoints, metrics, store, config: DEFAULT_ADMISSION_CONFIG },
    authorizer: new AuthorizationChain([], shared),
    webhooks: webhookCalls({ ...shared, transport: undefined }),
    causes: new RecordedCauses(realClock),
    evaluations: new EvaluationTurns(),
  };
  const plugins = Object.values(admissionPlugins).filter(({ byDefault }) => byDefault);
  const admission = new AdmissionChain(
    plugins.map(({ make }) => make(dependencies)),
    { metrics, clock: realClock },
  );
  await admission.start();
  return { endpoints, admission };
}

/** Each stage with the result of those before it as its input. */
async function stagesOf(endpoint: Endpoint, admission: AdmissionChain, manifest: object): Promise<Stages> {
  const { schema, served, resource, storage, format } = endpoint;
  const bytes = Buffer.from(JSON.stringify(manifest));
  const parsed = parseJson(bytes).value;
  const decoded = decodeBySchema(parsed, schema).object as KubeObject;
  const object = { ...decoded, metadata: { ...decoded.metadata, namespace: "default" } };
  const defaulted = served.defaults?.(object) ?? object;
  const request: AdmissionRequest = {
    ...{ operation: "CREATE", endpoint, subresource: "", namespace: "default", name: object.metadata.name, object: defaulted },
    ...{ dryRun: false, options: {}, context },
  };
  const admitted = await admission.mutate(request, defaulted);
  const metadata = { ...admitted.metadata, uid: "0f3a6c1e-5a3b-4a7c-9d0e-2b8f6f1c7d55", creationTimestamp: "2026-01-02T03:04:05Z" };
  const stamped = { ...admitted, metadata };
  const complete = resource.prepareForCreate?.(stamped, { user: context.user, nowMs: realClock.now() }) ?? stamped;
  const writer = { manager: "bench", apiVersion: endpoint.apiVersion, time: "2026-01-02T03:04:05Z" };
  const ownership = { schema, previous: undefined, previousManaged: ManagedFields.none, writer, ignore: ignoredFields(endpoint, "") };
  const managed = trackUpdate({ ...ownership, next: defaulted });
  const text = managed.text();
  const stored = storage.newObject(complete, managed, 1);
  const encoder = new Encoder({ form: answerForm(undefined, "object"), schemas, includeObject: "None", pretty: false, nowMs: () => 0 });
  const value = stored.value({ asBytes: true });
  let count = 0;
  return {
    parse: () => parseJson(bytes),
    decode: () => decodeBySchema(parsed, schema),
    default: () => served.defaults?.(object),
    admit: () => admission.mutate(request, defaulted),
    own: () => trackUpdate({ ...ownership, next: defaulted }).text(),
    validate: () => {
      for (const _step of validateCreate(endpoint, complete, context)) continue;
    },
    encode: () => format.write(complete, text),
    commit: () =>
      storage.store.commit([{ type: "put", key: `/bench/${resource.plural}/${count++}`, value, precondition: { is: "absent" } }]),
    answer: () => encoder.object(endpoint, stored),
  };
}

async function callMany(stage: () => unknown, calls: number): Promise<void> {
  for (let done = 0; done < calls; done += CONCURRENCY) {
    const waiting: unknown[] = [];
    for (let index = 0; index < CONCURRENCY; index++) {
      const result = stage();
      if (result instanceof Promise) waiting.push(result);
    }
    if (waiting.length > 0) await Promise.all(waiting);
  }
}

/** Nothing may be collected meanwhile: the benchmark starts this process with a young generation that is large enough. */
async function costOf(stage: () => unknown): Promise<Pick<StageCost, "processorUs" | "allocatedKb">> {
  await callMany(stage, WARM_UP_CALLS);
  collectGarbage();
  const heapBytes = v8.getHeapStatistics().used_heap_size;
  const before = process.cpuUsage();
  await callMany(stage, CALLS);
  const { user, system } = process.cpuUsage(before);
  const calls = Math.ceil(CALLS / CONCURRENCY) * CONCURRENCY;
  return { processorUs: (user + system) / calls, allocatedKb: (v8.getHeapStatistics().used_heap_size - heapBytes) / calls / 1_024 };
}

const tasks = {
  async measure({ directory }: { readonly directory: string }): Promise<readonly StageCost[]> {
    started ??= startCore(directory);
    const { endpoints, admission } = await started;
    const costs: StageCost[] = [];
    for (const kind of KINDS) {
      const endpoint = endpoints.find("", "v1", `${kind}s`);
      if (endpoint === undefined) throw new Error(`Cannot measure ${kind}: it is not served`);
      const stages = await stagesOf(endpoint, admission, kind === "pod" ? podManifest("stage") : configMapManifest("stage"));
      for (const stage of STAGES) costs.push({ stage, kind, ...(await costOf(stages[stage])) });
    }
    return costs;
  },
};

let started: ReturnType<typeof startCore> | undefined;

export type StagesTasks = typeof tasks;
serve(tasks);
