/** Default Pod, node and references for tests, which override only what they are about. */
import type { ConfigMap, Container, Pod, PodSpec, Secret, Service } from "../../../api/generated/core/v1.ts";
import { encodeText } from "../../../api/core/v1/secret/contents.ts";
import type { MountedVolume } from "../../contracts/pod-volumes.ts";
import type { References } from "../../references/references.ts";
import type { ContainerView } from "../container.ts";
import type { NodeView } from "../node-view.ts";
import { buildPod } from "../../../api/testing/pod.ts";

export function aContainer(fields: Partial<Container> = {}): Container {
  return { name: "main", image: "busybox", ...fields };
}

export function aPod(spec: Partial<PodSpec> = {}, metadata: Partial<Pod["metadata"]> = {}): Pod {
  return buildPod({
    metadata: { name: "web-0", namespace: "shop", uid: "u-1", ...metadata },
    spec: { containers: [aContainer()], nodeName: "n1", serviceAccountName: "seller", ...spec },
  });
}

export const node: NodeView = {
  hostIps: ["192.168.0.7"],
  capacity: { cpu: "4", memory: "10Gi" },
  allocatable: { cpu: "4", memory: "8Gi", "ephemeral-storage": "100Gi" },
  dns: {
    resolver: { servers: ["9.9.9.9"], searches: ["home.arpa"], options: ["rotate"] },
    clusterDns: ["10.96.0.10"],
    clusterDomain: "cluster.local",
  },
  cgroups: { root: "/", driver: "cgroupfs", version: 1, canLimitSwap: false, hugePageSizes: [] },
  directories: { logs: "/var/log/pods", pods: "/var/lib/kubelet/pods", seccomp: "/var/lib/kubelet/seccomp" },
};

export function aService(name: string, namespace: string, spec: Service["spec"]): Service {
  return { apiVersion: "v1", kind: "Service", metadata: { name, namespace }, ...(spec === undefined ? {} : { spec }) };
}

export function aVolume(path: string, fields: Partial<MountedVolume> = {}): MountedVolume {
  return { path, isReadOnly: false, isExternal: false, isEphemeral: false, ...fields };
}

export interface Objects {
  /** By "namespace/name". */
  readonly configMaps?: Readonly<Record<string, ConfigMap["data"]>>;
  readonly secrets?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly services?: readonly Service[];
}

export function referencesTo({
  configMaps = {},
  secrets = {},
  services = [],
}: Objects): Pick<References, "configMap" | "secret" | "services"> {
  return {
    configMap: (namespace, name) => {
      const data = configMaps[`${namespace}/${name}`];
      return Promise.resolve(data === undefined ? undefined : { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data });
    },
    secret: (namespace, name) => {
      const texts = secrets[`${namespace}/${name}`];
      return Promise.resolve(texts === undefined ? undefined : aSecret(name, texts));
    },
    services: () => Promise.resolve(services),
  };
}

export function aSecret(name: string, texts: Readonly<Record<string, string>>, type = "Opaque"): Secret {
  const data = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, encodeText(text)]));
  return { apiVersion: "v1", kind: "Secret", metadata: { name, namespace: "shop" }, type, data };
}

export function aView(fields: Partial<ContainerView> & { readonly objects?: Objects } = {}): ContainerView {
  const { objects = {}, ...rest } = fields;
  const container = fields.container ?? aContainer();
  return {
    pod: aPod({ containers: [container] }),
    container,
    attempt: 0,
    podIps: ["10.1.0.5"],
    node,
    imageUser: { uid: 1000 },
    references: referencesTo(objects),
    mounted: new Map(),
    volumes: { subPath: (_pod, _container, mount, expanded) => Promise.resolve(`/safe/${mount.name}/${expanded}`) },
    readVolumeFile: () => Promise.reject(new Error("There is no file")),
    supportsRecursiveReadOnly: false,
    nodeHostsFile: () => Promise.resolve("127.0.0.1\tlocalhost\n"),
    ...rest,
  };
}
