/**
 * Maintains a Deployment for every Database, and takes a final backup before one is deleted: a finalizer keeps the Database until the
 * backup exists. A pass reads the current state, acts, and reports the condition "Ready".
 */
import type { Draft } from "k8ts/client";
import { controlledBy, defineController, itsController, itself, onChange, watch, type Outcome, type Pass, type WorkKey } from "k8ts/controllers";
import { configMaps, deployments, type coreV1 } from "k8ts/kinds";
import { databases, deploymentOf, GROUP, withReady, type Database } from "./database.ts";

export const FINALIZER = `${GROUP}/final-backup`;

export const databaseController = defineController({
  name: "database-controller",
  account: "database-operator",
  rules: [
    { apiGroups: [GROUP], resources: ["databases"], verbs: ["get", "list", "watch", "update", "patch"] },
    { apiGroups: [GROUP], resources: ["databases/status", "databases/finalizers"], verbs: ["update", "patch"] },
    { apiGroups: ["apps"], resources: ["deployments"], verbs: ["get", "list", "watch", "create", "patch"] },
    { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch", "create"] },
    { apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] },
  ],
  // ConfigMaps only to read them: a backup needs no pass.
  watches: [watch(databases, itself), watch(deployments, itsController(databases)), watch(configMaps, () => [])],
  reconcile,
});

async function reconcile(key: WorkKey, pass: Pass): Promise<Outcome> {
  const database = pass.read.get(databases, key);
  if (database === undefined) return onChange;
  if (database.metadata.deletionTimestamp !== undefined) {
    await finish(database, pass);
    return onChange;
  }
  // Before anything that the finalizer cleans up is created.
  const kept = await withFinalizer(database, pass);
  await ensureDeployment(kept, pass);
  const reported = withReady(kept, pass.read.get(deployments, key), pass.clock.now());
  if (reported !== kept) await pass.write.updateStatus(databases, reported);
  return onChange;
}

async function withFinalizer(database: Database, { write }: Pass): Promise<Database> {
  const { finalizers = [] } = database.metadata;
  if (finalizers.includes(FINALIZER)) return database;
  return write.update(databases, { ...database, metadata: { ...database.metadata, finalizers: [...finalizers, FINALIZER] } });
}

async function ensureDeployment(database: Database, { read, write, events }: Pass): Promise<void> {
  const wanted = deploymentOf(database);
  const { name, namespace } = database.metadata;
  const found = read.get(deployments, { namespace, name });
  if (found === undefined) {
    await write.create(deployments, { ...wanted, metadata: { ...wanted.metadata, ownerReferences: [controlledBy(database)] } });
    events.record(database, { type: "Normal", reason: "Created", message: `Created Deployment ${name}`, action: "Create" });
    return;
  }
  const [container] = found.spec?.template.spec?.containers ?? [];
  const [wantedContainer] = wanted.spec?.template.spec?.containers ?? [];
  const isSame = found.spec?.replicas === wanted.spec?.replicas && container?.image === wantedContainer?.image;
  const { uid, resourceVersion } = found.metadata;
  if (!isSame) await write.patch(deployments, { namespace, name }, { type: "merge", value: { metadata: { uid, resourceVersion }, spec: wanted.spec } as never });
}

/** Takes the final backup, then lets the Database go. A crash in between finds the backup and continues. */
async function finish(database: Database, { read, write }: Pass): Promise<void> {
  const { finalizers = [], name, namespace } = database.metadata;
  if (!finalizers.includes(FINALIZER)) return;
  const backup = backupOf(database);
  if (read.get(configMaps, { namespace, name: backup.metadata.name ?? "" }) === undefined) await write.create(configMaps, backup);
  const left = finalizers.filter((each) => each !== FINALIZER);
  await write.patch(databases, { namespace, name }, { type: "merge", value: { metadata: { finalizers: left } } });
}

/** Without an owner, because it outlives the Database. A real operator would write to an object store. */
function backupOf({ metadata: { name, namespace, uid = "" }, spec }: Database): Draft<coreV1.ConfigMap> {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: `${name}-backup-${uid.slice(0, 8)}`, ...(namespace === undefined ? {} : { namespace }) },
    data: { engine: spec.engine.name, size: spec.storage.size },
  };
}
