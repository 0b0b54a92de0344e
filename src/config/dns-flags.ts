/** Flags and the configuration file of the DNS server, read into its configuration. */
import { parseYaml } from "../api/machinery/codec/yaml/yaml.ts";
import { YamlError } from "../api/machinery/codec/yaml/scalar.ts";
import { readFileFlagBytes } from "../cli/framework/file-flag.ts";
import type { FlagSet, FlagValues } from "../cli/framework/flags.ts";
import { UnusableFiles } from "../cli/framework/unusable-files.ts";
import { parseServerAddress } from "../dns/addresses.ts";
import { DEFAULT_DNS_CONFIGURATION, mergeDnsConfiguration, type DnsConfiguration } from "../dns/configuration.ts";
import { dnsPlugins } from "../dns/plugins/all.ts";
import { unknownPlugins } from "../dns/start-dns.ts";

const PLUGIN_NAMES = dnsPlugins.map(({ name }) => name).join(", ");
const DNS_PORT = 53;

export const dnsFlags = {
  "dns-plugins": {
    type: "list",
    placeholder: "NAMES",
    doc: `Plugins of the DNS server. Default: ${PLUGIN_NAMES}. Each has a fixed position.`,
    expects: (text: string) => (unknownPlugins([text], dnsPlugins).length === 0 ? undefined : `one of ${PLUGIN_NAMES}`),
  },
  "dns-upstreams": {
    type: "list",
    placeholder: "ADDRESSES",
    doc: "Servers that resolve names of other domains. Default: the nameservers of /etc/resolv.conf.",
    expects: (text: string) =>
      parseServerAddress(text, DNS_PORT) === undefined ? "an address such as 192.0.2.1 or 192.0.2.1:5353" : undefined,
  },
  "dns-hosts": {
    type: "string",
    placeholder: "FILE",
    doc: "File with names and addresses in the format of /etc/hosts, before all others.",
  },
  "dns-config": {
    type: "string",
    placeholder: "FILE",
    doc: "Configuration file of the DNS server, YAML or JSON. Flags override it.",
  },
} as const satisfies FlagSet;

export type DnsFlagValues = FlagValues<typeof dnsFlags>;

/** Rejects with UnusableFiles, which has all problems. */
export async function readDnsConfiguration(values: DnsFlagValues, zone: string): Promise<DnsConfiguration> {
  const { "dns-config": file, "dns-plugins": plugins, "dns-upstreams": upstreams, "dns-hosts": hosts } = values;
  const base = { ...DEFAULT_DNS_CONFIGURATION, zone };
  const written = file === undefined ? base : merged(file, base, parsed(file, await readFileFlagBytes(file, "--dns-config")));
  return {
    ...written,
    ...(plugins.length === 0 ? {} : { plugins }),
    forward: { ...written.forward, ...(upstreams.length === 0 ? {} : { upstreams }) },
    hosts: { ...written.hosts, ...(hosts === undefined ? {} : { file: hosts }) },
  };
}

function parsed(file: string, bytes: Uint8Array): unknown {
  try {
    return parseYaml(bytes).value;
  } catch (error) {
    if (error instanceof YamlError) throw new UnusableFiles([`Cannot read ${file}: ${error.message}`], { cause: error });
    throw error;
  }
}

function merged(file: string, base: DnsConfiguration, value: unknown): DnsConfiguration {
  const read = mergeDnsConfiguration(base, value);
  const unknown = read.ok ? unknownPlugins(read.configuration.plugins, dnsPlugins) : [];
  const problems = read.ok
    ? unknown.map((name) => `plugins has ${JSON.stringify(name)}, which must be one of ${PLUGIN_NAMES}`)
    : read.problems;
  if (read.ok && problems.length === 0) return read.configuration;
  throw new UnusableFiles(problems.map((problem) => `Cannot use ${file}: ${problem}`));
}
