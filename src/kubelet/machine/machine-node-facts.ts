/** Facts of this machine for its Node object. */
import type { NodeFacts } from "../node/node-facts.ts";
import type { MachineFacts } from "../../host/kernel/machine-facts.ts";

export interface MachineNodeOptions {
  readonly machine: MachineFacts;
  readonly nodeName: string;
  /** The primary one first. */
  readonly nodeIps: readonly string[];
  readonly diskBytes: number;
  readonly podsMax: number;
  readonly kubeletPort: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: NodeFacts["taints"];
  readonly podCidrs?: readonly string[];
  readonly reserved?: NodeFacts["reserved"];
}

export function machineNodeFacts(options: MachineNodeOptions): NodeFacts {
  const { machine, nodeName, nodeIps, diskBytes, podsMax, kubeletPort, labels, taints, podCidrs, reserved } = options;
  return {
    capacity: {
      cpu: String(machine.processors),
      "ephemeral-storage": kibibytes(diskBytes),
      ...Object.fromEntries(machine.hugePages.map(({ sizeBytes, totalBytes }) => [hugePagesName(sizeBytes), kibibytes(totalBytes)])),
      memory: kibibytes(machine.memoryBytes),
      pods: String(podsMax),
    },
    ...(reserved === undefined ? {} : { reserved }),
    addresses: [
      ...nodeIps.map((address) => ({ type: "InternalIP", address })),
      // Source of the label kubernetes.io/hostname, by which tests select nodes.
      { type: "Hostname", address: nodeName },
    ],
    kubeletPort,
    ...(labels === undefined ? {} : { labels }),
    ...(taints === undefined ? {} : { taints }),
    ...(podCidrs === undefined ? {} : { podCidrs }),
    system: {
      machineID: machine.machineId,
      systemUUID: machine.systemUuid,
      bootID: machine.bootId,
      kernelVersion: machine.kernelVersion,
      osImage: machine.systemName,
      operatingSystem: machine.operatingSystem,
      architecture: machine.architecture,
    },
  };
}

const GIBIBYTE = 1 << 30;
const MEBIBYTE = 1 << 20;

function hugePagesName(sizeBytes: number): string {
  return sizeBytes >= GIBIBYTE ? `hugepages-${sizeBytes / GIBIBYTE}Gi` : `hugepages-${sizeBytes / MEBIBYTE}Mi`;
}

function kibibytes(bytes: number): string {
  return bytes === 0 ? "0" : `${Math.floor(bytes / 1024)}Ki`;
}
