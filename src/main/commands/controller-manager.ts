/** `k8ts controller-manager`: the controllers in a process of their own, from start to signal. */
import { decodeText } from "../../api/machinery/codec/json.ts";
import { Disposables } from "../../base/disposables.ts";
import type { Source } from "../../client/https/connection-config.ts";
import { newUid } from "../../apiserver/write/identifiers.ts";
import { readWhole } from "../../host/files.ts";
import { machineName } from "../../host/private-files.ts";
import { realRandom } from "../../host/real-random.ts";
import { defineCommand } from "../command.ts";
import { connectionFlags, electionFlagProblems, electionFlags, electionTimes, loadConnection } from "../connection-flags.ts";
import {
  chosenControllers,
  chosenControllersProblems,
  controllerFlags,
  readControllerSettings,
  signingProblems,
} from "../controller-flags.ts";
import { waysOverHttps } from "../controller-manager.ts";
import { CONTROLLER_MANAGER_LEASE, startLedControllers, type LedControllers } from "../led-controllers.ts";
import { loopbackAddress, metricsFlags, startMetricsPages } from "../metrics-pages.ts";
import { untilStopped } from "../until-stopped.ts";

const flags = {
  ...connectionFlags,
  ...controllerFlags,
  "leader-elect": {
    type: "boolean",
    default: true,
    doc: "Of several such processes only the one that holds the lease acts; the others take over when it ends.",
  },
  ...electionFlags,
  "leader-elect-resource-name": {
    type: "string",
    placeholder: "NAME",
    default: CONTROLLER_MANAGER_LEASE.name,
    doc: "The name of the lease.",
  },
  "leader-elect-resource-namespace": {
    type: "string",
    placeholder: "NAMESPACE",
    default: CONTROLLER_MANAGER_LEASE.namespace,
    doc: "The namespace of the lease.",
  },
  "use-service-account-credentials": {
    type: "boolean",
    default: true,
    doc: "Each controller acts under a service account of its own; otherwise all act as the user of the kubeconfig.",
  },
  ...metricsFlags,
} as const;

export const controllerManager = defineCommand({
  description:
    "Runs the cluster's controllers against an API server and keeps them running until Ctrl-C (SIGINT) or SIGTERM. Any number of such processes may run: one acts, the others stand by.",
  flags,
  arguments: {},
  examples: [
    "k8ts controller-manager --kubeconfig pki/kubeconfigs/controller-manager.conf",
    "k8ts controller-manager --controllers=*,-garbage-collector-controller",
    "k8ts controller-manager --leader-elect=false",
  ],
  options(values) {
    const problems = [
      ...chosenControllersProblems(values),
      ...signingProblems(values),
      ...(values["leader-elect"] ? electionFlagProblems(values) : []),
    ];
    return problems.length === 0 ? { ok: true, options: values } : { ok: false, problems };
  },

  async run(values, io) {
    const { clock, log } = io;
    await using owned = new Disposables();
    const connection = await loadConnection(values, io);
    const random = realRandom();
    const identity = `${machineName()}_${newUid(random)}`;
    const lease = { namespace: values["leader-elect-resource-namespace"], name: values["leader-elect-resource-name"] };
    const useServiceAccountCredentials = values["use-service-account-credentials"];
    const settings = await clock.external(readControllerSettings(values, await clock.external(textOf(connection.authority))));
    const late: { controllers?: LedControllers } = {};
    const pages = loopbackAddress(values["metrics-address"] ?? "");
    if (pages !== undefined) {
      const isLeading = () => late.controllers?.isLeading() ?? false;
      const election = values["leader-elect"] ? { name: lease.name, isLeading } : undefined;
      const metrics = () => late.controllers?.metrics() ?? [];
      // Before it stands: if it cannot listen it should not have led.
      io.out(`figures at ${owned.use(await clock.external(startMetricsPages({ ...pages, metrics, election }))).url}/metrics`);
    }
    const controllers = startLedControllers({
      controllers: chosenControllers(values),
      settings,
      transportFor: waysOverHttps({ connection, useServiceAccountCredentials, clock, log }, owned),
      ...(values["leader-elect"] ? { election: { ...electionTimes(values), lease, identity } } : {}),
      clock,
      random,
      log,
      onLeading: (isLeading) => io.out(isLeading ? `acting as ${identity}` : "standing by"),
    });
    owned.use(controllers);
    late.controllers = controllers;
    io.out(
      `controllers for ${connection.server}${values["leader-elect"] ? `, standing for ${lease.namespace}/${lease.name} as ${identity}` : ""}`,
    );
    // Without others that could try it there is nothing to wait for.
    if (!values["leader-elect"]) await Promise.race([controllers.started, untilStopped(io)]);
    // As upstream's: a process that has lost the lease and cannot end what it did ends itself.
    await Promise.race([controllers.stuck, untilStopped(io)]);
    io.out("Stopping");
  },
});

async function textOf(source: Source | undefined): Promise<string> {
  if (source === undefined) return "";
  return "text" in source ? source.text : decodeText(await readWhole(source.file));
}
