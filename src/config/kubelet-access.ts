/** How the API server connects to kubelets: upstream's flags. */
import { DEFAULT_API_SERVER_CONFIG, type ApiServerConfig } from "../apiserver/framework/api-server-config.ts";
import { oneOf, type FlagSet, type FlagValues } from "../cli/framework/flags.ts";

export interface KubeletAccess {
  /** Client certificate for kubelets. Absent: issued by the cluster's CA. */
  readonly certificateFiles?: { readonly certificate: string; readonly key: string };
  /** CAs of kubelet serving certificates. Absent: not verified, as upstream. */
  readonly authorityFile?: string;
}

const ADDRESS_TYPES = DEFAULT_API_SERVER_CONFIG.kubeletPreferredAddressTypes;

/** For kubelets that k8ts starts: by IP address, because their node names are not in DNS. */
export function ownAddressTypes(types: readonly string[]): readonly string[] {
  return ["InternalIP", ...types.filter((type) => type !== "InternalIP")];
}

export const kubeletFlags = {
  "kubelet-client-certificate": {
    type: "string",
    placeholder: "FILE",
    doc: "Client certificate (PEM) presented to kubelets. Requires --kubelet-client-key. Default: issued by the cluster's CA.",
  },
  "kubelet-client-key": { type: "string", placeholder: "FILE", doc: "Private key (PEM) of --kubelet-client-certificate." },
  "kubelet-certificate-authority": {
    type: "string",
    placeholder: "FILE",
    doc: "CA certificates (PEM) that kubelet serving certificates are verified with. Default: not verified.",
  },
  "kubelet-preferred-address-types": {
    type: "list",
    placeholder: "TYPE,...",
    doc: `Node address types to try when connecting to kubelets, in order of preference. Default: ${ADDRESS_TYPES.join(",")}.`,
    expects: (type) => (ADDRESS_TYPES.includes(type) ? undefined : oneOf(ADDRESS_TYPES)),
  },
} as const satisfies FlagSet;

type KubeletFlagValues = FlagValues<typeof kubeletFlags>;

export function kubeletProblems(values: KubeletFlagValues): string[] {
  const isOneMissing = (values["kubelet-client-certificate"] === undefined) !== (values["kubelet-client-key"] === undefined);
  return isOneMissing ? ["--kubelet-client-certificate and --kubelet-client-key must be set together"] : [];
}

export function kubeletConfig(values: KubeletFlagValues): KubeletAccess {
  const [certificate, key] = [values["kubelet-client-certificate"], values["kubelet-client-key"]];
  const authorityFile = values["kubelet-certificate-authority"];
  return {
    ...(certificate === undefined || key === undefined ? {} : { certificateFiles: { certificate, key } }),
    ...(authorityFile === undefined ? {} : { authorityFile }),
  };
}

export function preferredAddressTypes(values: KubeletFlagValues): Partial<Pick<ApiServerConfig, "kubeletPreferredAddressTypes">> {
  const types = values["kubelet-preferred-address-types"];
  return types.length === 0 ? {} : { kubeletPreferredAddressTypes: types };
}
