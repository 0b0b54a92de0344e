/** The MTU of Pods in a CNI configuration: of the bridge plugin, which sets it on the bridge and on both ends of each Pod's link. Pure. */

/** Undefined: it already has this MTU, or has no bridge plugin. */
export function withPodMtu(conflist: string, mtu: number): string | undefined {
  const configuration: unknown = JSON.parse(conflist);
  if (!hasPlugins(configuration)) return undefined;
  const bridge = configuration.plugins.find((plugin) => plugin["type"] === "bridge");
  if (bridge === undefined || bridge["mtu"] === mtu) return undefined;
  const plugins = configuration.plugins.map((plugin) => (plugin === bridge ? { ...plugin, mtu } : plugin));
  return `${JSON.stringify({ ...configuration, plugins }, undefined, 2)}\n`;
}

interface Conflist {
  readonly plugins: readonly Readonly<Record<string, unknown>>[];
}

function hasPlugins(value: unknown): value is Conflist {
  return typeof value === "object" && value !== null && "plugins" in value && Array.isArray(value.plugins);
}
