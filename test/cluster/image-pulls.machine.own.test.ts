/** Images from a registry: a real registry, real containers, the real kubectl. Upstream's messages, credentials, digests, pull policies. */
import { equal, match } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Pod } from "../../src/api/generated/core/v1.ts";
import type { ClientProgram } from "../../src/testing/clients/client-program.ts";
import {
  REGISTRY_PASSWORD,
  REGISTRY_USER,
  startImageRegistry,
  startSlowRegistry,
  type ImageRegistry,
} from "../../src/testing/servers/image-registry.ts";
import { needs } from "../../src/testing/needs.ts";
import { aRealPod, lineOf, REAL_CLUSTER_NEEDS, SLEEP, startRealCluster, type RealCluster } from "../../src/testing/servers/real-cluster.ts";

async function ready(kubectl: ClientProgram, pod: object): Promise<void> {
  await kubectl("apply -f -", { input: pod });
  await kubectl("wait --for=condition=Ready -f - --timeout=60s", { input: pod });
}

async function podOf(kubectl: ClientProgram, name: string): Promise<Pod> {
  return JSON.parse(await kubectl(`get pod ${name} -o json`)) as Pod;
}

describe("an image in a registry", { ...needs(...REAL_CLUSTER_NEEDS, "registry") }, () => {
  let cluster: RealCluster;
  let open: ImageRegistry;
  let closed: ImageRegistry;
  let digest = "";
  before(async () => {
    [cluster, open, closed] = await Promise.all([startRealCluster(), startImageRegistry(), startImageRegistry({ isPrivate: true })]);
    digest = await open.push("team/app", "7");
    await closed.push("secret/app", "8");
  });
  after(async () => {
    for (const one of [cluster, open, closed]) await one?.[Symbol.asyncDispose]();
  });

  /** Resolves when such an Event exists: Events are written after the change that they report. */
  const eventMatches = (kubectl: ClientProgram, name: string, fits: RegExp): Promise<string> => {
    const columns = "custom-columns=REASON:.reason,MESSAGE:.message";
    return lineOf(kubectl, `get events --watch --field-selector involvedObject.name=${name} --no-headers -o ${columns}`, fits);
  };

  /** The error of the pull, read in one request: soon it is replaced by the back-off. */
  const refusal = async (kubectl: ClientProgram, name: string): Promise<string> => {
    const waiting = ".status.containerStatuses[0].state.waiting";
    await kubectl(`wait --for=jsonpath={${waiting}.reason}=ErrImagePull pod/${name} --timeout=60s`);
    const shown = `get pod ${name} --watch -o jsonpath='{${waiting}.reason}: {${waiting}.message}{"\\n"}'`;
    return (await lineOf(kubectl, shown, /^ErrImagePull: /)).slice("ErrImagePull: ".length);
  };

  test("an image is pulled once by its name, and events report it", async () => {
    const kubectl = await cluster.inNamespace("names");
    const image = `${open.address}/team/app:7`;
    await ready(kubectl, aRealPod("first", SLEEP, { container: { image } }));
    equal(await kubectl("exec first -- cat /version"), "7\n");
    await eventMatches(kubectl, "first", new RegExp(`^Pulling +Pulling image "${image}"$`));
    const pulled = `Successfully pulled image "${image}" in [\\d.]+m?s \\([\\d.]+m?s including waiting\\)\\. Image size: \\d+ bytes\\.`;
    await eventMatches(kubectl, "first", new RegExp(`^Pulled +${pulled}$`));
    const [status] = (await podOf(kubectl, "first")).status?.containerStatuses ?? [];
    equal(status?.imageID, `${open.address}/team/app@${digest}`);

    await ready(kubectl, aRealPod("second", SLEEP, { container: { image } }));
    await eventMatches(kubectl, "second", /^Pulled +Container image "\S+" already present on machine/);
    await lineOf(
      kubectl,
      `get nodes --watch -o jsonpath='{.items[*].status.images[*].names}{.status.images[*].names}{"\\n"}'`,
      new RegExp(`"${image}"`),
    );
  });

  test("an image is pulled by its digest", async () => {
    const kubectl = await cluster.inNamespace("digests");
    await ready(kubectl, aRealPod("exact", SLEEP, { container: { image: `${open.address}/team/app@${digest}` } }));
    equal(await kubectl("exec exact -- cat /version"), "7\n");
  });

  test("a slow image pull is reported while it is in progress", async () => {
    await using slow = await startSlowRegistry(open);
    const kubectl = await cluster.inNamespace("slow");
    const image = `${slow.address}/team/app:9`;
    await open.push("team/app", "9", { ballastBytes: 4_000_000 });
    const pod = aRealPod("patient", SLEEP, { container: { image } });
    await kubectl("apply -f -", { input: pod });
    await cluster.says(new RegExp(`^  pulling image ${image}: \\d+\\.\\d of 4\\.\\d MB$`));
    match(await kubectl("get pod patient --no-headers"), /^patient +0\/1 +ContainerCreating +0 /);
    slow.release();
    await ready(kubectl, pod);
  });

  test("a private image requires a pull secret of the Pod or of its service account", async () => {
    const kubectl = await cluster.inNamespace("private");
    const image = `${closed.address}/secret/app:8`;
    await kubectl("apply -f -", { input: aRealPod("stranger", SLEEP, { container: { image } }) });
    match(await refusal(kubectl, "stranger"), /(no basic auth credentials|authorization failed|401 Unauthorized)/);

    const words = `--docker-server=${closed.address} --docker-username=${REGISTRY_USER} --docker-password=${REGISTRY_PASSWORD}`;
    await kubectl(`create secret docker-registry pull ${words}`);
    await ready(kubectl, aRealPod("friend", SLEEP, { container: { image }, imagePullSecrets: [{ name: "pull" }] }));
    equal(await kubectl("exec friend -- cat /version"), "8\n");

    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "puller" }, imagePullSecrets: [{ name: "pull" }] };
    await kubectl("apply -f -", { input: account });
    await ready(kubectl, aRealPod("guest", SLEEP, { container: { image, imagePullPolicy: "Always" }, serviceAccountName: "puller" }));
    await eventMatches(kubectl, "guest", /^Pulled +Successfully pulled image/);
  });

  test("a missing image is reported with the registry's error", async () => {
    const kubectl = await cluster.inNamespace("missing");
    const image = `${open.address}/team/none:1`;
    await kubectl("apply -f -", { input: aRealPod("missing", SLEEP, { container: { image } }) });
    match(
      await refusal(kubectl, "missing"),
      /^rpc error: code = NotFound desc = failed to pull and unpack image ".*\/team\/none:1": .*: not found$/,
    );
  });
});
