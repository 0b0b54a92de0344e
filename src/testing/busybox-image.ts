/**
 * An image for tests, made of the machine's static busybox: a shell, and whatever else a test runs in a container. No
 * registry is asked. (Of Debian 12, `wget -T` crashes: without -T.) */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { buildImage } from "../kubelet/machine/images/oci-image.ts";
import type { TarEntry } from "../kubelet/machine/images/tar-writer.ts";
import { toolPath } from "./needs.ts";

/** The tag is in the file /version, so that a test sees which of them runs. */
export const BUSYBOX_1 = "k8ts.test/busybox:1";
export const BUSYBOX_2 = "k8ts.test/busybox:2";

/** As a tar that `k8ts image load` takes. Without `command`, its containers sleep. With ballast, no other image shares all of its layers. */
export function busyboxImage(name: string, { command = ["sleep", "infinity"], user = "", ballastBytes = 0 } = {}): Uint8Array {
  return buildImage({
    name,
    architecture: process.arch === "x64" ? "amd64" : process.arch,
    layers: [baseLayer(), [textFile("version", `${name.slice(name.lastIndexOf(":") + 1)}\n`), ...ballast(ballastBytes)]],
    config: { Cmd: command, Env: ["PATH=/bin"], User: user, WorkingDir: "/" },
  });
}

function baseLayer(): readonly TarEntry[] {
  const busybox = toolPath("busybox");
  const applets = execFileSync(busybox, ["--list"], { encoding: "utf8" }).trim().split("\n");
  return [
    ...["bin", "dev", "etc", "home", "proc", "root", "run", "sys", "var"].map((path): TarEntry => ({ is: "directory", path })),
    { is: "directory", path: "tmp", mode: 0o1777 },
    { is: "file", path: "bin/busybox", content: readFileSync(busybox), mode: 0o755 },
    ...applets.filter((name) => name !== "busybox").map((name): TarEntry => ({ is: "link", path: `bin/${name}`, target: "busybox" })),
    textFile("etc/passwd", "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/home:/bin/sh\n"),
    textFile("etc/group", "root:x:0:\nnogroup:x:65534:\nstaff:x:50:nobody\n"),
  ];
}

function ballast(sizeBytes: number): readonly TarEntry[] {
  return sizeBytes === 0 ? [] : [{ is: "file", path: "ballast", content: randomBytes(sizeBytes) }];
}

function textFile(path: string, text: string): TarEntry {
  return { is: "file", path, content: new TextEncoder().encode(text) };
}
