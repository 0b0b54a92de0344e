/**
 * Prepares a cluster for joining nodes: creates their roles and bindings, and publishes the network settings of the cluster in the ConfigMap kube-system/cluster-network, where joined nodes read them: they need the
 * range of all Pods, and the addresses of the API server and of DNS for their own Pods. Also creates the StorageClass of a new cluster.
 */
import { configMaps } from "../api/core/v1/config-map.ts";
import { CLUSTER_NETWORK, type ClusterNetworkSettings } from "../api/node-joining.ts";
import type { Transport } from "../api/machinery/transport.ts";
import { clusterCidrsOf } from "../api/pod-ranges.ts";
import { dnsServiceAddresses, kubernetesServiceIpv4 } from "../components/api-server/serving-tls.ts";
import type { Steps } from "../cli/framework/progress.ts";
import { createJoiningPermissions } from "../client/create-joining-permissions.ts";
import { createStandardClass } from "../localpath/standard-class.ts";
import { createClient } from "../client/rest-client.ts";
import { dnsAddressesFor, rangesOf, type MachineNetwork } from "./machine/machine-network.ts";

export interface PublishedNetwork {
  readonly serviceClusterIpRange: string;
  /** Absent: this machine runs no containers. */
  readonly network: MachineNetwork | undefined;
  readonly clusterDomain: string;
}

/** `transport`: the administrator's. The cluster works without it; then no machine can join, or claims need a class by name. */
export async function tryPublishClusterNetwork(transport: Transport, network: PublishedNetwork, steps: Steps): Promise<void> {
  await publish(transport, settingsOf(network)).catch((error: unknown) =>
    steps.note(`  warning: publishing the network settings for joining nodes failed: ${(error as Error).message}`),
  );
  await createStandardClass(createClient(transport).with({ fieldManager: "k8ts" })).catch((error: unknown) =>
    steps.note(`  warning: creating the StorageClass standard failed: ${(error as Error).message}`),
  );
}

function settingsOf({ serviceClusterIpRange, network, clusterDomain }: PublishedNetwork): ClusterNetworkSettings {
  const kubernetesServiceIp = kubernetesServiceIpv4(serviceClusterIpRange);
  const [clusterDns] = dnsAddressesFor(network ?? {}, dnsServiceAddresses(serviceClusterIpRange));
  const ranges = rangesOf(network);
  return {
    ...(ranges === undefined ? {} : { clusterCidr: clusterCidrsOf(ranges).join(",") }),
    ...(kubernetesServiceIp === undefined ? {} : { kubernetesServiceIp }),
    ...(clusterDns === undefined ? {} : { clusterDns }),
    clusterDomain,
  };
}

async function publish(transport: Transport, settings: ClusterNetworkSettings): Promise<void> {
  const client = createClient(transport);
  await createJoiningPermissions(client);
  await client.apply(
    configMaps,
    { apiVersion: "v1", kind: "ConfigMap", metadata: CLUSTER_NETWORK, data: { ...settings } },
    { fieldManager: "k8ts", force: true },
  );
}
