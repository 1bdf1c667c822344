"""How krew and Homebrew install what a release made.  Pure: facts in, text out."""

from __future__ import annotations

from textwrap import dedent


def krew_manifest(*, version: str, address: str, sha256: str, summary: str) -> str:
    """The manifest of the kubectl plugin ``reflet``, for an archive at *address*."""
    return dedent(f"""\
        apiVersion: krew.googlecontainertools.github.com/v1alpha2
        kind: Plugin
        metadata:
          name: reflet
        spec:
          version: v{version}
          shortDescription: {summary}
          description: |
            What configuration a pod's containers get, why a pod does not start, who uses a
            ConfigMap or Secret, and any command run locally with a pod's environment and files.
            Start with: kubectl reflet demo
          caveats: |
            Reading needs the same rights as kubectl get; see kubectl reflet rbac --help.
          platforms:
          - selector:
              matchLabels: {{os: linux, arch: amd64}}
            uri: {address}
            sha256: {sha256}
            bin: reflet
            files:
            - {{from: "reflet-{version}/*", to: "."}}
        """)


def homebrew_formula(
    *, version: str, homepage: str, address: str, sha256: str, summary: str
) -> str:
    """The formula that installs the source distribution at *address* with the pinned versions."""
    return dedent(f"""\
        class Reflet < Formula
          include Language::Python::Virtualenv

          desc "{summary}"
          homepage "{homepage}"
          url "{address}"
          version "{version}"
          sha256 "{sha256}"
          license "Apache-2.0"

          depends_on "python@3.13"

          def install
            venv = virtualenv_create(libexec, "python3.13")
            # The versions and hashes that the project tests with.
            system venv.root/"bin/python", "-m", "pip", "install", "--no-deps",
                   "--require-hashes", "--requirement", buildpath/"requirements/image.lock"
            venv.pip_install_and_link buildpath
            generate_completions_from_executable(bin/"reflet", "completion")
          end

          test do
            assert_match version.to_s, shell_output("#{{bin}}/reflet --version")
            (testpath/"pod.yaml").write <<~YAML
              apiVersion: v1
              kind: Pod
              metadata: {{name: web}}
              spec:
                containers: [{{name: web, image: web, env: [{{name: COLOR, value: blue}}]}}]
            YAML
            assert_match "blue", shell_output("#{{bin}}/reflet env -f pod.yaml pod/web")
          end
        end
        """)
