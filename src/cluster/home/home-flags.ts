/** Selects a cluster: the flags that every command for one has, and the directory that they select. */
import { absolutePath } from "../../host/files/private-files.ts";
import { joinPath } from "../../host/files/files.ts";
import type { Environment } from "../../cli/framework/command.ts";
import type { FlagSet, FlagValues, Parsed } from "../../cli/framework/flags.ts";
import { shellQuote } from "../../cli/framework/shell-quote.ts";
import { DEFAULT_NAME, homesDirectory, nameExpected } from "./home-paths.ts";

export const homeFlags = {
  name: {
    type: "string",
    placeholder: "NAME",
    doc: `Name of the cluster. Clusters with different names and ports can run at the same time. Default: ${DEFAULT_NAME}.`,
    expects: nameExpected,
  },
  "data-dir": {
    type: "string",
    placeholder: "DIRECTORY",
    doc: "Directory of the cluster's data. Default: $XDG_DATA_HOME/k8ts/NAME, or ~/.local/share/k8ts/NAME.",
  },
} as const satisfies FlagSet;

/** The same for commands that create the cluster. */
export const newHomeFlags = {
  ...homeFlags,
  "data-dir": {
    ...homeFlags["data-dir"],
    doc: "Directory of the cluster's data, created if missing. Default: $XDG_DATA_HOME/k8ts/NAME, or ~/.local/share/k8ts/NAME.",
  },
} as const satisfies FlagSet;

export interface HomeChoice {
  /** An absolute path. */
  readonly directory: string;
  /** Undefined: the name in the home's marker, or the default. */
  readonly name?: string;
}

/** --name and --data-dir as arguments for a suggested command, quoted for a shell: "" for the default cluster. */
export function homeArguments({ name, directory, isNamedPlace }: { name: string; directory: string; isNamedPlace: boolean }): string {
  if (!isNamedPlace) return ` --data-dir ${shellQuote(directory)}`;
  return name === DEFAULT_NAME ? "" : ` --name ${name}`;
}

export function chooseHome(values: FlagValues<typeof homeFlags>, environment: Environment): Parsed<HomeChoice> {
  const { name, "data-dir": given } = values;
  const homes = homesDirectory(environment);
  if (given === undefined && homes === undefined)
    return { ok: false, problems: ["--data-dir is required: neither XDG_DATA_HOME nor HOME is set"] };
  const directory = absolutePath(given ?? joinPath(homes ?? "", name ?? DEFAULT_NAME));
  return { ok: true, options: { directory, ...(name === undefined ? {} : { name }) } };
}
