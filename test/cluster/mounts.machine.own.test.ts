/**
 * Mounts of volumes in real containers: which mounts the host and containers see of each other (mountPropagation), and read-only mounts
 * with what is mounted below them (recursiveReadOnly). The root of a machine is not always a shared mount, so the test creates one.
 */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import type { Node, Pod } from "../../src/api/generated/core/v1.ts";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import { attachLoopDevice, detachLoopDevice } from "../../src/host/kernel/loop-devices.ts";
import { becomes } from "../../src/testing/becomes.ts";
import type { ClientProgram } from "../../src/testing/clients/client-program.ts";
import { needs } from "../../src/testing/needs.ts";
import { aRealPod, lineOf, REAL_CLUSTER_NEEDS, SLEEP, startRealCluster, type RealCluster } from "../../src/testing/servers/real-cluster.ts";

/** Whole blocks: the rest of a file is not part of its device. */
const DEVICE_BYTES = 64 * 1024;
/** Of an object's name. The directory of a Pod's logs is named by namespace, name and uid, and a file name has at most 255 bytes. */
const POD_NAME_MAX = 253;
const READY = "--for=condition=Ready --timeout=180s";

describe("mounts in containers", needs(...REAL_CLUSTER_NEEDS), () => {
  let cluster: RealCluster;
  let kubectl: ClientProgram;
  let shared: string;

  before(async () => {
    cluster = await startRealCluster();
    kubectl = await cluster.inNamespace("mounts");
    shared = `${cluster.directory}/shared`;
    await mkdir(shared);
    execFileSync("mount", ["--bind", shared, shared]);
    execFileSync("mount", ["--make-shared", shared]);
  });

  after(async () => {
    execFileSync("umount", ["--recursive", shared]);
    await cluster[Symbol.asyncDispose]();
  });

  const aPodAt = (name: string, mount: object) =>
    aRealPod(name, SLEEP, {
      container: { volumeMounts: [{ name: "host", mountPath: "/host", ...mount }], securityContext: { privileged: true } },
      volumes: [{ name: "host", hostPath: { path: shared } }],
      terminationGracePeriodSeconds: 0,
    });
  const podOf = async (name: string) => JSON.parse(await kubectl(`get pod ${name} -o json`)) as Pod;
  const mountIn = (pod: string, name: string) =>
    kubectl(`exec ${pod} -- sh -c 'mkdir -p /host/${name} && mount -t tmpfs none /host/${name} && touch /host/${name}/file'`);
  const filesIn = async (pod: string, name: string) => (await kubectl(`exec ${pod} -- ls /host/${name}`)).trim();

  test("mountPropagation decides which mounts of the host and of containers are visible to each other", async () => {
    for (const [name, mountPropagation] of [
      ["none", "None"],
      ["receiving", "HostToContainer"],
      ["both", "Bidirectional"],
    ] as const)
      await kubectl("apply -f -", { input: aPodAt(name, { mountPropagation }) });
    await kubectl(`wait pod none receiving both ${READY}`);

    await mkdir(`${shared}/of-host`);
    execFileSync("mount", ["-t", "tmpfs", "none", `${shared}/of-host`]);
    await mkdir(`${shared}/of-host/seen`);
    deepEqual(await Promise.all(["none", "receiving", "both"].map((pod) => filesIn(pod, "of-host"))), ["", "seen", "seen"]);

    await mountIn("both", "of-both");
    deepEqual(await readdir(`${shared}/of-both`), ["file"]);
    deepEqual(await Promise.all(["none", "receiving"].map((pod) => filesIn(pod, "of-both"))), ["", "file"]);

    await mountIn("receiving", "of-receiving");
    deepEqual(await readdir(`${shared}/of-receiving`), []);
    equal(await filesIn("receiving", "of-receiving"), "file");
  });

  test("deleting Pods unmounts nothing that the kubelet did not mount", async () => {
    await kubectl("delete pod none receiving both");
    deepEqual(await readdir(`${shared}/of-host`), ["seen"]);
    deepEqual(await readdir(`${shared}/of-both`), ["file"]);
  });

  test("recursiveReadOnly is applied, or refused, as the runtime supports it", async () => {
    const [node] = (JSON.parse(await kubectl("get nodes -o json")) as { items: readonly [Node] }).items;
    const handler = node.status?.runtimeHandlers?.find(({ name }) => name === "");
    const isSupported = handler?.features?.recursiveReadOnlyMounts === true;
    for (const recursiveReadOnly of ["Disabled", "IfPossible", "Enabled"])
      await kubectl("apply -f -", { input: aPodAt(recursiveReadOnly.toLowerCase(), { readOnly: true, recursiveReadOnly }) });

    const ifSupported = isSupported ? "Enabled" : "Disabled";
    for (const [name, expected] of [
      ["disabled", "Disabled"],
      ["ifpossible", ifSupported],
      ...(isSupported ? ([["enabled", "Enabled"]] as const) : []),
    ] as const) {
      await kubectl(`wait pod ${name} ${READY}`);
      const [status] = (await podOf(name)).status?.containerStatuses ?? [];
      equal(status?.volumeMounts?.find(({ mountPath }) => mountPath === "/host")?.recursiveReadOnly, expected);
      // The mount itself is always read-only, and mounts below it only recursively.
      match((await kubectl.run(`exec ${name} -- touch /host/new`)).stderr, /Read-only file system/);
      equal((await kubectl.run(`exec ${name} -- touch /host/of-host/new`)).code === 0, expected === "Disabled");
    }
    if (isSupported) return;
    await becomes(async () => (await podOf("enabled")).status?.containerStatuses?.[0]?.state?.waiting, {
      reason: "CreateContainerConfigError",
      message:
        'failed to resolve recursive read-only mode: volume "host" requested recursive read-only mode, but it is not supported by the runtime',
    });
    ok(!(await readdir(shared)).includes("new"));
  });

  test("a device file in a volume gives access to the device only to privileged containers", needs("loop"), async () => {
    const image = `${cluster.directory}/device`;
    await writeFile(image, "of the host".padEnd(DEVICE_BYTES, "\n"));
    const device = await attachLoopDevice(image);
    try {
      const { rdev } = await stat(device);
      const volumes = [
        { name: "host", hostPath: { path: shared } },
        { name: "device", hostPath: { path: device, type: "BlockDevice" } },
      ];
      const aDevicePod = (name: string, container: JsonObject, mounts: readonly JsonObject[]) =>
        aRealPod(name, SLEEP, { container: { volumeMounts: [...mounts], ...container }, volumes, terminationGracePeriodSeconds: 0 });
      const atDevice = { name: "device", mountPath: "/device" };
      await kubectl("apply -f -", { input: aDevicePod("plain", {}, [{ name: "host", mountPath: "/host" }, atDevice]) });
      await kubectl("apply -f -", { input: aDevicePod("privileged", { securityContext: { privileged: true } }, [atDevice]) });
      await kubectl(`wait pod plain privileged ${READY}`);
      const read = (pod: string, path: string) => kubectl.run(`exec ${pod} -- head -c 11 ${path}`);

      equal((await read("privileged", "/device")).stdout, "of the host");
      match((await read("plain", "/device")).stderr, /Operation not permitted/);

      // As a container could by CAP_MKNOD, if the runtime let it.
      execFileSync("mknod", [`${shared}/made`, "b", String(rdev >> 8), String(rdev & 0xff)]);
      match((await read("plain", "/host/made")).stderr, /Operation not permitted/);
      await kubectl("apply -f -", { input: aDevicePod("part", {}, [{ name: "host", mountPath: "/part", subPath: "made" }]) });
      await kubectl(`wait pod part ${READY}`);
      match((await read("part", "/part")).stderr, /Operation not permitted/);
      await kubectl("delete pod plain privileged part");
    } finally {
      await detachLoopDevice(device);
    }
  });

  test("a Pod whose name is too long for a directory waits with an event, and can be deleted", async () => {
    const name = "p".repeat(POD_NAME_MAX);
    await kubectl("apply -f -", { input: { ...aPodAt("long", {}), metadata: { name } } });

    const event = await lineOf(kubectl, "get events --watch --output=custom-columns=:reason,:message", /FailedCreatePodSandBox/);
    match(event, /ENAMETOOLONG/);
    await kubectl(`delete pod ${name}`);
  });
});
