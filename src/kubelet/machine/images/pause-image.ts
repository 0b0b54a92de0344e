/** The image of the container that holds a Pod's namespaces, made here and on the spot: no registry is asked for it. */
import { PAUSE_IMAGE } from "./pause-image-name.ts";
import { buildImage } from "./oci-image.ts";
import { pauseProgram, type PauseArchitecture } from "./pause-program.ts";

/** Others have no pause program of ours. */
const ARCHITECTURES: readonly string[] = ["amd64", "arm64"] satisfies readonly PauseArchitecture[];

function isKnown(architecture: string): architecture is PauseArchitecture {
  return ARCHITECTURES.includes(architecture);
}

/** `name`: under which it should be known, if not under its own. `architecture`: this machine's, as OCI calls it. */
export function pauseImage({ architecture, name = PAUSE_IMAGE }: { readonly architecture: string; readonly name?: string }): Uint8Array {
  if (!isKnown(architecture)) {
    throw new Error(
      `Cannot make the image ${name}: there is a program for ${ARCHITECTURES.join(" and ")}, this machine is ${architecture}`,
    );
  }
  return buildImage({
    name,
    architecture,
    layers: [[{ is: "file", path: "pause", content: pauseProgram(architecture), mode: 0o755 }]],
    config: { Entrypoint: ["/pause"], User: "65535:65535", WorkingDir: "/" },
  });
}
