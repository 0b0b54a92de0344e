/** Parses names in proxy paths: `name`, `name:port` or `scheme:name:port`. */
import { StatusError } from "../../api/machinery/status-error.ts";

export interface NamedPort {
  readonly scheme: "" | "http" | "https";
  readonly name: string;
  /** "" if absent; otherwise a number or, for a Service, the name of a port. */
  readonly port: string;
}

/** undefined: none of the three forms. */
export function parseNamedPort(text: string): NamedPort | undefined {
  const parts = text.split(":");
  const [scheme = "", name = "", port = ""] = parts.length === 3 ? parts : ["", ...parts];
  if (parts.length > 3 || name === "" || !isScheme(scheme)) return undefined;
  return { scheme, name, port };
}

function isScheme(text: string): text is NamedPort["scheme"] {
  return text === "" || text === "http" || text === "https";
}

const PORT_MAX = 65_535;

/** The port number; by default the scheme's. Upstream reports an invalid port when it connects. */
export function portNumber({ scheme, port }: Pick<NamedPort, "scheme" | "port">): number {
  if (port === "") return scheme === "https" ? 443 : 80;
  if (/^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= PORT_MAX) return Number(port);
  const why = /^\d+$/.test(port) ? `address ${port}: invalid port` : `lookup tcp/${port}: unknown port`;
  throw new StatusError("ServiceUnavailable", `error trying to reach service: dial tcp: ${why}`);
}
