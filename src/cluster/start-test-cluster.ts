/**
 * Starts `k8ts up --test-control` in this process: a cluster in memory with simulated nodes, and the API that controls it. Its URL and token
 * are written to a file that only this user can read.
 */
import { randomBytes } from "node:crypto";
import { ADMINISTRATOR } from "../api/identities.ts";
import { Disposables } from "../base/disposables.ts";
import { describeStore, type ClusterParts } from "../components/control-plane.ts";
import { simulatedFleet } from "../components/simulated-nodes/simulated-fleet.ts";
import { readSchedulerConfig, SCHEDULER_CONFIG_FLAG } from "../config/scheduler-config.ts";
import type { ApiServerOptions } from "../config/api-server-config.ts";
import { removeFile } from "../host/files/files.ts";
import { writePrivateText } from "../host/files/private-files.ts";
import { startControlServer, type ControlServer } from "../testcontrol/api/control-server.ts";
import { MAIN, TestControl } from "../testcontrol/test-control.ts";
import { CLUSTER_DOMAIN } from "./machine/cluster-domain.ts";
import { tryPublishClusterNetwork } from "./publish-cluster-network.ts";
import {
  K8TS_AGENT,
  settingsOfControllers,
  stopOldPods,
  tryMarkControlPlane,
  type StartClusterContext,
  type StartedCluster,
} from "./start-cluster.ts";
import type { UpOptions } from "./up-options.ts";

/** Of randomness: not to be guessed. */
const TOKEN_BYTES = 32;

type TestOptions = UpOptions & { readonly testControl: NonNullable<UpOptions["testControl"]> };

export async function startTestCluster(options: TestOptions, context: StartClusterContext): Promise<StartedCluster> {
  const { held, clock, log, steps } = context;
  const { testControl, simulatedNodes: count } = options;
  const scheduler = await clock.external(readSchedulerConfig(options.scheduler, SCHEDULER_CONFIG_FLAG));
  await stopOldPods(context);
  await using starting = new Disposables();
  const { isVirtual } = testControl;
  const apiServer = servedInTime(options.apiServer, isVirtual);
  const controllers = { controllers: options.controllers, controllerSettings: settingsOfControllers(options) };
  const control = starting.use(
    await TestControl.start({
      config: { ...controllers, scheduler, apiServer, isVirtual, log },
      apiServer,
      nodes: simulatedFleet({ count, driver: "memory", nodeName: options.nodeName, clusterName: held.home.name }),
      prepare: (first) => prepare(first, options, context),
      log: log.with({ part: "test control" }),
    }),
  );
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const server = starting.use(
    await startControlServer({ control, token, port: testControl.port, log: log.with({ part: "test control" }) }),
  );
  const file = held.home.testControl;
  starting.defer(() => clock.external(removeFile(file)));
  await clock.external(writePrivateText(file, `${JSON.stringify({ url: server.url, token }, undefined, 2)}\n`));
  steps.note(`  export K8TS_TEST_CONTROL=${file}`);
  const owned = starting.move();
  return {
    list: await partsOf(control, server, file),
    door: control.cluster(MAIN).door.part,
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** Clients check certificates by real time, so with virtual time they are not kept but valid at any time. */
function servedInTime(apiServer: ApiServerOptions, isVirtual: boolean): ApiServerOptions {
  if (!isVirtual) return apiServer;
  const { certificateDirectory: _directory, ...serving } = apiServer.serving;
  return { ...apiServer, serving };
}

/** Objects that every cluster of `k8ts up` has. */
async function prepare(parts: ClusterParts, { apiServer }: UpOptions, { steps }: StartClusterContext): Promise<void> {
  const administrator = parts.transportFor(ADMINISTRATOR, K8TS_AGENT);
  const [firstNode] = parts.nodes.names();
  if (firstNode !== undefined) await tryMarkControlPlane(administrator, firstNode, steps);
  const { serviceClusterIpRange } = apiServer.api;
  await tryPublishClusterNetwork(administrator, { serviceClusterIpRange, network: undefined, clusterDomain: CLUSTER_DOMAIN }, steps);
}

async function partsOf(control: TestControl, { url }: ControlServer, file: string): Promise<StartedCluster["list"]> {
  const { door, current } = control.cluster(MAIN);
  const { list } = await current.started();
  const running = list.map((part) => {
    if (part.name === "store") return { name: "store", description: describeStore({ driver: "memory" }) };
    return part.name === "API server" ? { name: part.name, description: door.part.url } : part;
  });
  const time = control.isVirtual ? "virtual time" : "real time";
  return [...running, { name: "test control", description: `${url}, ${time}, token in ${file}` }];
}
