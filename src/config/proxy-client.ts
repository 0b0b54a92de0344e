/** The certificate with which the API server identifies itself to aggregated API servers: upstream's flags. */
import type { FlagSet, FlagValues } from "../cli/framework/flags.ts";

export interface ProxyClientConfig {
  /** Absent: issued by the cluster's own CA of front proxies. */
  readonly proxyClientFiles?: { readonly certificate: string; readonly key: string };
}

export const proxyClientFlags = {
  "proxy-client-cert-file": {
    type: "string",
    placeholder: "FILE",
    doc: "Client certificate (PEM) presented to aggregated API servers; must be of a CA in --requestheader-client-ca-file. Requires --proxy-client-key-file. Default: issued by the cluster's own CA of front proxies.",
  },
  "proxy-client-key-file": { type: "string", placeholder: "FILE", doc: "Private key (PEM) of --proxy-client-cert-file." },
} as const satisfies FlagSet;

type ProxyClientFlagValues = FlagValues<typeof proxyClientFlags>;

export function proxyClientProblems(values: ProxyClientFlagValues): string[] {
  const isOneMissing = (values["proxy-client-cert-file"] === undefined) !== (values["proxy-client-key-file"] === undefined);
  return isOneMissing ? ["--proxy-client-cert-file and --proxy-client-key-file must be set together"] : [];
}

export function proxyClientConfig(values: ProxyClientFlagValues): ProxyClientConfig {
  const [certificate, key] = [values["proxy-client-cert-file"], values["proxy-client-key-file"]];
  return certificate === undefined || key === undefined ? {} : { proxyClientFiles: { certificate, key } };
}
