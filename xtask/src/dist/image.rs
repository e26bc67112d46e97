// SPDX-License-Identifier: Apache-2.0
//! An OCI image of one server, from scratch: one layer with the program, the loader and the libraries that it was linked
//! with, and its configuration. `docker load`, `podman load` and `skopeo copy oci-archive:` take it.

use super::Release;
use super::binary::Binary;
use super::program::{ADMIN_PORT, Service};
use super::stage::Stage;
use super::tools::{Outcome, architecture, gzip, output, text};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// The user of its process, who owns nothing; the number is that of Debian's distroless images.
const USER: &str = "65532:65532";

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// Makes it and returns its path.
pub(super) fn make(release: &Release, binary: &Binary) -> Outcome<PathBuf> {
    let (name, version) = (binary.program.name, &release.version);
    let service = binary.program.service.as_ref().ok_or("only servers have images")?;
    let work = release.out.join("stage").join(format!("{name}-image"));
    let layer = Stage::new(work.join("layer"), release.epoch)?;
    fill(release, binary, service, &layer)?;
    let tar = work.join("layer.tar");
    layer.archive(&tar)?;
    let unpacked = digest(&tar)?;
    gzip(&tar)?;

    let image = Stage::new(work.join("image"), release.epoch)?;
    let layer = blob(&image, &fs::read(work.join("layer.tar.gz")).map_err(|it| it.to_string())?)?;
    let created = output("date", &["--utc", "--date", &format!("@{}", release.epoch), "+%FT%TZ"])?;
    let labels = json!({
        "org.opencontainers.image.title": name,
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.description": binary.program.about,
    });
    let config = json!({
        "created": created.trim(),
        "architecture": architecture()?,
        "os": "linux",
        "config": {
            "User": USER,
            "Entrypoint": [format!("/usr/bin/{name}"), format!("/etc/shoebill/{name}.toml")],
            "ExposedPorts": ports(service),
            "StopSignal": "SIGTERM",
            "Labels": labels,
        },
        "rootfs": { "type": "layers", "diff_ids": [unpacked] },
        "history": [{ "created": created.trim(), "created_by": "cargo xtask dist" }],
    });
    let config = blob(&image, config.to_string().as_bytes())?;
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": described(CONFIG, &config),
        "layers": [described(LAYER, &layer)],
    });
    let manifest = described(MANIFEST, &blob(&image, manifest.to_string().as_bytes())?);
    let manifest = with_names(manifest, name, version);
    let index = json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": [manifest] });
    image.file("index.json", index.to_string())?;
    image.file("oci-layout", json!({ "imageLayoutVersion": "1.0.0" }).to_string())?;
    let path = release.out.join(format!("{}-{version}-oci.tar", binary.program.package));
    image.archive(&path)?;
    Ok(path)
}

/// Puts into the layer what the server needs.
fn fill(release: &Release, binary: &Binary, service: &Service, layer: &Stage) -> Outcome<()> {
    let name = binary.program.name;
    layer.program(&format!("usr/bin/{name}"), binary.bytes()?)?;
    for library in binary.libraries()? {
        let path = text(&library)?;
        layer.copy(path.trim_start_matches('/'), &library)?;
    }
    layer.file(&format!("etc/shoebill/{name}.toml"), configuration(service))?;
    layer.file("etc/passwd", "shoebill:x:65532:65532:Shoebill:/nonexistent:/usr/sbin/nologin\n")?;
    layer.file("etc/group", "shoebill:x:65532:\n")?;
    let docs = "usr/share/doc/shoebill";
    layer.file(&format!("{docs}/LICENSE"), release.read("LICENSE")?)?;
    layer.file(&format!("{docs}/third-party-licences.txt"), &release.licences)?;
    // The system's libraries have licences of their own.
    for package in ["libc6", "libgcc-s1"] {
        let path = format!("/usr/share/doc/{package}/copyright");
        if Path::new(&path).exists() {
            layer.copy(path.trim_start_matches('/'), Path::new(&path))?;
        }
    }
    Ok(())
}

/// What is written where a server is reached from outside of its container.
fn configuration(service: &Service) -> String {
    format!(
        "# For a container: whoever publishes its ports decides who may connect.\n\
         [server]\nhost = \"0.0.0.0\"\n\n[admin]\nhost = \"0.0.0.0\"\n{}",
        service.configuration
    )
}

fn ports(service: &Service) -> Value {
    let ports = [service.port, ADMIN_PORT].map(|port| (format!("{port}/tcp"), json!({})));
    Value::Object(ports.into_iter().collect())
}

/// A file whose name is its digest.
struct Blob {
    digest: String,
    size: usize,
}

fn blob(image: &Stage, bytes: &[u8]) -> Outcome<Blob> {
    image.file("blob", bytes)?;
    let path = image.folder().join("blob");
    let digest = digest(&path)?;
    let name = digest.trim_start_matches("sha256:");
    let folder = image.folder().join("blobs/sha256");
    let moved = fs::create_dir_all(&folder).and_then(|()| fs::rename(&path, folder.join(name)));
    moved.map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Blob { digest, size: bytes.len() })
}

fn digest(path: &Path) -> Outcome<String> {
    let told = output("sha256sum", &["--binary", text(path)?])?;
    Ok(format!("sha256:{}", told.split(' ').next().unwrap_or_default()))
}

fn described(media_type: &str, blob: &Blob) -> Value {
    json!({ "mediaType": media_type, "digest": blob.digest, "size": blob.size })
}

/// A manifest's description with the names under which `docker load` and `podman load` keep the image.
fn with_names(mut manifest: Value, name: &str, version: &str) -> Value {
    manifest["annotations"] = json!({
        "org.opencontainers.image.ref.name": version,
        "io.containerd.image.name": format!("localhost/shoebill-{name}:{version}"),
    });
    manifest
}
