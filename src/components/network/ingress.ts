/** The ingress controller as a network component: once per cluster, on ports of the node beside the API server. */
import { INGRESS_CONTROLLER } from "../../api/identities.ts";
import { Disposables } from "../../base/disposables.ts";
import type { FlagSet, FlagValues } from "../../cli/framework/flags.ts";
import { makePrivateDirectory, joinPath } from "../../host/files/files.ts";
import { openLogFile } from "../../host/files/rotating-log.ts";
import { startIngressController, type IngressControllerOptions } from "../../ingress/ingress-controller.ts";
import { selfSigned } from "../node/kubelet-certificate.ts";
import { loopbackAddress, startMetricsPages } from "../pages/metrics-pages.ts";
import { defineNetworkComponent, type RunningNetworkComponent } from "./network-component.ts";

const PORT_MAX = 65_535;

export const ingressFlags = {
  "ingress-http-port": {
    type: "number",
    placeholder: "PORT",
    default: 80,
    min: 0,
    max: PORT_MAX,
    doc: "Port of the node for HTTP to Ingresses of class k8ts. If it is in use or not permitted, 8080 or a free port is used. 0: a free port.",
  },
  "ingress-https-port": {
    type: "number",
    placeholder: "PORT",
    default: 443,
    min: 0,
    max: PORT_MAX,
    doc: "Same for HTTPS. If it is in use or not permitted, 8443 or a free port is used.",
  },
  "ingress-access-log": { type: "boolean", doc: "Write one line of JSON per request to access.log, which is rotated." },
  "ingress-metrics-address": {
    type: "string",
    placeholder: "HOST:PORT",
    doc: "Loopback address to serve metrics and health of the ingress controller on, without TLS. Default: disabled.",
    expects: (text: string) => (loopbackAddress(text) === undefined ? "a loopback address such as 127.0.0.1:10254" : undefined),
  },
} as const satisfies FlagSet;

export type IngressFlagValues = FlagValues<typeof ingressFlags>;

export interface StartIngressOptions extends Omit<IngressControllerOptions, "ports" | "defaultCertificate" | "accessLog"> {
  readonly values: IngressFlagValues;
  /** For the access log. */
  readonly directory: string;
}

/** Also for `k8ts ingress`. */
export async function startIngress({ values, directory, ...options }: StartIngressOptions): Promise<RunningNetworkComponent> {
  const { clock, addresses } = options;
  await using starting = new Disposables();
  const accessLog = values["ingress-access-log"] ? starting.use(await clock.external(openAccessLog(directory))) : undefined;
  const controller = starting.use(
    await startIngressController({
      ...options,
      ports: { http: values["ingress-http-port"], https: values["ingress-https-port"] },
      defaultCertificate: selfSigned(["k8ts-ingress", ...addresses], clock.now()),
      accessLog: accessLog?.write,
    }),
  );
  const metricsAddress = loopbackAddress(values["ingress-metrics-address"] ?? "");
  if (metricsAddress !== undefined) {
    const pages = starting.use(await clock.external(startMetricsPages({ ...metricsAddress, metrics: () => controller.metrics() })));
    options.log.info("Serving metrics of the ingress controller", { url: `${pages.url}/metrics` });
  }
  const owned = starting.move();
  return {
    get description() {
      const { http, https } = controller.ports;
      return `HTTP on port ${http}, HTTPS on port ${https}${controller.isListening ? "" : " while Ingresses of class k8ts exist"}`;
    },
    onDescriptionChange: (listener) => controller.onPortsChange(listener),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

async function openAccessLog(directory: string) {
  await makePrivateDirectory(directory);
  return openLogFile(joinPath(directory, "access.log"), ({ sentence }) => sentence);
}

export const ingress = defineNetworkComponent({
  name: "ingress",
  scope: "cluster",
  flags: ingressFlags,

  start({ values, directory, network, transportFor, clock, random, log }) {
    const transport = transportFor(INGRESS_CONTROLLER, "k8ts-ingress");
    return startIngress({ values, directory, transport, clock, random, log, addresses: network.nodeIps });
  },
});
