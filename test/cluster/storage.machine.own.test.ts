/**
 * Databases on volumes of the StorageClass' provisioner, with real containers on two nodes and the real kubectl: every row whose insertion
 * was acknowledged is there whatever happens to Pods, k8ts, containerd and the machine; volumes grow while they are used, have a real limit,
 * stay on their nodes, and are removed or kept as their reclaim policies say.
 */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import { signalProcess } from "../../src/host/processes/detached-program.ts";
import { findOwnContainerd } from "../../src/kubelet/machine/containerd/own-containerd.ts";
import { becomes } from "../../src/testing/becomes.ts";
import { aList, aPod, aService } from "../../src/testing/clients/manifests.ts";
import { busyboxImage } from "../../src/testing/fixtures/busybox-image.ts";
import { needs, toolPath } from "../../src/testing/needs.ts";
import { REAL_CLUSTER_NEEDS, SLEEP, startRealCluster, type RealCluster } from "../../src/testing/servers/real-cluster.ts";

const IMAGE = "k8ts.test/sqlite:1";
const DATABASES = ["db-0", "db-1", "db-2"];
const READY_WITHIN_MS = 200_000;
const WAIT = "--timeout=180s";

const LIMITED: JsonObject = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "limited" },
  provisioner: "k8ts.dev/local-path",
  parameters: { quota: "true" },
  volumeBindingMode: "WaitForFirstConsumer",
  allowVolumeExpansion: true,
};

const aClaim = (storage: string, storageClassName?: string): JsonObject => ({
  accessModes: ["ReadWriteOnce"],
  resources: { requests: { storage } },
  ...(storageClassName === undefined ? {} : { storageClassName }),
});

/** Rows are in a volume with a limit, a copy of each is in one of the default class. */
const DATABASE: JsonObject = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "db" },
  spec: {
    replicas: DATABASES.length,
    serviceName: "db",
    podManagementPolicy: "Parallel",
    selector: { matchLabels: { app: "db" } },
    template: {
      metadata: { labels: { app: "db" } },
      spec: {
        terminationGracePeriodSeconds: 5,
        containers: [
          {
            name: "main",
            image: IMAGE,
            command: ["sh", "-c", `trap 'exit 0' TERM\nsqlite3 /data/db 'create table if not exists rows (id integer)'\n${SLEEP}`],
            readinessProbe: {
              exec: { command: ["sqlite3", "/data/db", "select count(*) from rows"] },
              periodSeconds: 1,
              timeoutSeconds: 20,
            },
            volumeMounts: [
              { name: "data", mountPath: "/data" },
              { name: "copy", mountPath: "/copy" },
            ],
          },
        ],
      },
    },
    volumeClaimTemplates: [
      { metadata: { name: "data" }, spec: aClaim("32Mi", "limited") },
      { metadata: { name: "copy" }, spec: aClaim("1Gi") },
    ],
  },
};

describe("databases on volumes of nodes", { ...needs(...REAL_CLUSTER_NEEDS, "loop", "sqlite") }, () => {
  let cluster: RealCluster;
  /** Acknowledged rows, per database. */
  const rows = new Map<string, number[]>(DATABASES.map((name) => [name, []]));
  let nextRow = 1;

  const kubectl = (line: string, input?: object) =>
    cluster.kubectl(line, { timeoutMs: READY_WITHIN_MS, ...(input === undefined ? {} : { input }) });
  const field = (object: string, path: string) => kubectl(`get ${object} -o 'jsonpath={${path}}'`);

  /** One row per database, counted when its insertion was acknowledged. */
  const writeRows = () =>
    Promise.all(
      DATABASES.map(async (pod) => {
        const row = nextRow++;
        const insert = `sqlite3 /data/db "insert into rows values (${row})"`;
        await kubectl(`exec ${pod} -- sh -c '${insert} && echo ${row} >> /copy/rows && sync'`);
        rows.get(pod)?.push(row);
      }),
    );
  const ready = () => kubectl(`rollout status statefulset/db ${WAIT}`);
  /** All acknowledged rows are there, and the databases work. */
  const checkRows = async () => {
    await ready();
    for (const pod of DATABASES) {
      const expected = (rows.get(pod) ?? []).map((row) => `${row}\n`).join("");
      const read = `sqlite3 /data/db "select id from rows order by id"; echo; cat /copy/rows`;
      equal(await kubectl(`exec ${pod} -- sh -c '${read}'`), `${expected}\n${expected}`, pod);
    }
    await writeRows();
  };
  const placement = () => Promise.all(DATABASES.map((pod) => field(`pod ${pod}`, ".spec.nodeName")));
  /** Whether a node has files of the volume. */
  const isOnDisk = async (volume: string) => {
    const home = join(cluster.directory, "data", "k8ts", "default");
    const nodes = (await readdir(join(home, "nodes"))).map((name) => join(home, "nodes", name, "home"));
    return [home, ...nodes].some((node) => ["images", "directories"].some((part) => existsSync(join(node, "volumes", part, volume))));
  };

  before(async () => {
    cluster = await startRealCluster({ flags: ["--nodes", "2"] });
    await cluster.loadImage(busyboxImage(IMAGE, { programs: [toolPath("sqlite")] }));
    await kubectl("wait --for=create serviceaccount/default");
    await kubectl("create -f -", aList(LIMITED, aService("db", { clusterIP: "None" }), DATABASE));
    await ready();
  });
  after(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  test("rows survive the deletion of all Pods and scaling down and up, and volumes stay on their nodes", async () => {
    await writeRows();
    const placed = await placement();

    await kubectl("scale statefulset db --replicas=1");
    await kubectl("wait --for=delete pod/db-1 pod/db-2 --timeout=100s");
    await kubectl("delete pod db-0");
    await kubectl("scale statefulset db --replicas=3");
    await checkRows();
    deepEqual(await placement(), placed);
  });

  const sizeOf = async (pod: string) => Number((await kubectl(`exec ${pod} -- sh -c 'df -k /data | tail -1'`)).trim().split(/\s+/)[1]);
  const grow = (claim: string, storage: string) =>
    kubectl(`patch pvc ${claim} -p '${JSON.stringify({ spec: { resources: { requests: { storage } } } })}'`);

  test("a volume has the limit that its claim asked for, and has grown when its Pod restarts", async () => {
    const size = await sizeOf("db-0");
    const fill = "exec db-0 -- dd if=/dev/zero of=/data/fill bs=1M count=40";
    match(await cluster.kubectl.fails(fill), /No space left on device/);
    await kubectl("exec db-0 -- rm /data/fill");

    await grow("data-db-0", "96Mi");
    await becomes(async () => field(`pv ${await field("pvc data-db-0", ".spec.volumeName")}`, ".spec.capacity.storage"), "96Mi");
    // Without CAP_SYS_RESOURCE, as in some containers, the kernel does not grow a mounted ext4.
    await kubectl("delete pod db-0");
    await becomes(() => field("pvc data-db-0", ".status.capacity.storage"), "96Mi");

    await ready();
    ok((await sizeOf("db-0")) > 2 * size);
    await kubectl(fill);
    await kubectl("exec db-0 -- rm /data/fill");
    await checkRows();
  });

  test("a volume grows while its Pod runs", { ...needs("xfs") }, async () => {
    const container = { name: "main", image: IMAGE, volumeMounts: [{ name: "data", mountPath: "/data" }] };
    const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "growing" } }];
    const parameters = { quota: "true", fsType: "xfs" };
    await kubectl(
      "create -f -",
      aList(
        { ...LIMITED, metadata: { name: "limited-xfs" }, parameters },
        { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "growing" }, spec: aClaim("300Mi", "limited-xfs") },
        aPod("growing", { terminationGracePeriodSeconds: 0, containers: [container], volumes }),
      ),
    );
    await kubectl(`wait --for=condition=Ready pod/growing ${WAIT}`);
    const size = await sizeOf("growing");

    await grow("growing", "400Mi");
    await becomes(() => field("pvc growing", ".status.capacity.storage"), "400Mi");

    ok((await sizeOf("growing")) > size);
    equal(await field("pod growing", ".status.containerStatuses[0].restartCount"), "0");
    await kubectl("delete pod growing");
    await kubectl("delete pvc growing");
  });

  test("rows survive containerd killed, k8ts killed, and everything killed", async () => {
    const containerd = await findOwnContainerd(cluster.places);
    ok(containerd !== undefined);
    signalProcess(containerd, "SIGKILL");
    await cluster.says(/^containerd exited and was restarted/);
    // The kubelet connects to it again after a delay; until then it answers exec with an error.
    const answers = (pod: string) => kubectl(`exec ${pod} -- true`).then(Boolean, () => undefined);
    for (const pod of DATABASES) await becomes(async () => (await answers(pod)) !== undefined, true);
    await ready();
    await writeRows();
    await cluster.kill();
    await cluster.up();
    await checkRows();

    await cluster.kill();
    // Kills containers and detaches loop devices, as a power failure would.
    const { exitCode } = await cluster.k8ts("down");
    deepEqual([exitCode, (await cluster.onMachine()).filter((one) => /^(loop|mount)/.test(one))], [0, []]);
    await cluster.up();
    await checkRows();
  });

  test("`k8ts node remove` deletes no volumes without confirmation", async () => {
    const [second = ""] = (await field("nodes", ".items[*].metadata.name")).split(" ").filter((name) => name.endsWith("-2"));

    const { exitCode, stderr } = await cluster.k8ts("node", "remove", second);

    equal(exitCode, 1);
    match(
      stderr,
      new RegExp(
        `Cannot ask for confirmation to delete node ${second} with \\d+ volumes? of PersistentVolumeClaims: .* confirm with --yes`,
      ),
    );
    await checkRows();
  });

  test("a volume with policy Delete is removed from its disk with its claim, and one with Retain is kept", async () => {
    const volumeOf = (claim: string) => field(`pvc ${claim}`, ".spec.volumeName");
    const [removed, copy, kept] = [await volumeOf("data-db-1"), await volumeOf("copy-db-1"), await volumeOf("data-db-2")];
    await kubectl(`patch pv ${kept} -p '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}'`);
    deepEqual(await Promise.all([removed, copy, kept].map(isOnDisk)), [true, true, true]);

    await kubectl("delete statefulset db");
    await kubectl("wait --for=delete pods -l app=db --timeout=100s");
    await kubectl("delete pvc data-db-1 copy-db-1 data-db-2");

    await kubectl(`wait --for=delete pv/${removed} pv/${copy} --timeout=100s`);
    await becomes(() => field(`pv ${kept}`, ".status.phase"), "Released");
    deepEqual(await Promise.all([removed, copy, kept].map(isOnDisk)), [false, false, true]);
  });
});
