/**
 * An application from nothing on a running cluster with real containers: from the start of `kubectl apply` of a Deployment and its Service
 * until another Pod gets the first answer by the Service's DNS name. The image is on the node. Baseline for the container alone:
 * `up/containerd`.
 */
import { aDeployment, aList, aService } from "../../src/testing/clients/manifests.ts";
import { needs } from "../../src/testing/needs.ts";
import {
  aRealContainer,
  aRealPod,
  REAL_CLUSTER_NEEDS,
  SLEEP,
  startRealCluster,
  type RealCluster,
} from "../../src/testing/servers/real-cluster.ts";
import type { Benchmark } from "../benchmark.ts";
import { figureOf } from "../figure.ts";

const ANSWER_MS_MAX = 2_000;
const PORT = 8080;

/** Attempts of the client until one is answered: an attempt whose name does not exist yet fails at once. */
const CLIENT = "until wget -qO- http://NAME:8080/ 2>/dev/null; do sleep 0.02; done";

export const networkApp: Benchmark = {
  name: "network/app",
  measures: "from kubectl apply of a Deployment and a Service to the first answer by DNS name in another Pod, image present",
  async *run({ rounds, note }) {
    const { skip } = needs(...REAL_CLUSTER_NEEDS);
    if (skip !== false) return note(skip);
    await using cluster = await startRealCluster();
    await cluster.kubectl("wait --for=create serviceaccount/default");
    await cluster.kubectl("apply -f -", { input: aRealPod("client", SLEEP) });
    await cluster.kubectl("wait --for=condition=Ready pod/client");
    let count = 0;
    const { app } = await rounds.measure({ app: () => answerMs(cluster, `app-${count++}`) });
    yield figureOf({ name: "network/app-from-nothing", unit: "ms", values: app, budget: { atMost: ANSWER_MS_MAX } });
  },
};

async function answerMs(cluster: RealCluster, name: string): Promise<number> {
  const script = `mkdir -p /www && echo ${name} > /www/index.html && exec httpd -f -p ${PORT} -h /www`;
  const app = aList(aDeployment(name, { containers: [aRealContainer("web", script)] }), aService(name, { ports: [{ port: PORT }] }));
  // Starts before the application, as a client that waits for it.
  await using client = cluster.kubectl.start(`exec client -- sh -c 'echo started; ${CLIENT.replace("NAME", name)}'`);
  await client.line();
  const startedAt = performance.now();
  await cluster.kubectl("apply -f -", { input: app });
  const answer = await client.line();
  const tookMs = performance.now() - startedAt;
  if (answer !== name) throw new Error(`Expected ${name} to answer with its name, it answered: ${answer}`);
  await cluster.kubectl(`delete deployment,service ${name} --wait=false`);
  return tookMs;
}
