// The worker: Python in WebAssembly from what the page carries, the kernel from checker.pyz. It asks for nothing else.
const unpack = async (packed) => {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0))
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}
let python = null
const begin = async ({ wasm, library, checker, harness }) => {
  const files = { "pyodide.asm.wasm": [wasm, "application/wasm"], "python_stdlib.zip": [library, "application/zip"] }
  globalThis.fetch = async (address) => {
    const name = String(address).split("/").pop()
    if (!(name in files)) throw new Error(`nothing is loaded: ${name}`)
    return new Response(await unpack(files[name][0]), { headers: { "Content-Type": files[name][1] } })
  }
  const lock = { info: { abi_version: "2026_0", arch: "wasm32", platform: "emscripten", version: RUNTIME_VERSION, python: "3.14.2" }, packages: {} }
  python = await RUNTIME_LOADER({
    createPyodideModule: _createPyodideModule,
    indexURL: "checker:/files/",
    lockFileContents: JSON.stringify(lock),
  })
  python.FS.writeFile("/checker.pyz", Uint8Array.from(atob(checker), (letter) => letter.charCodeAt(0)))
  python.runPython("import sys; sys.path.insert(0, '/checker.pyz')")
  python.runPython(harness)
}
const call = (name, ...values) => {
  const function_ = python.globals.get(name)
  try {
    return JSON.parse(function_(...values))
  } finally {
    function_.destroy()
  }
}
const SOURCES = `
import json, zipfile
_archive = zipfile.ZipFile("/checker.pyz")
json.dumps({name.removeprefix("kernel/"): _archive.read(name).decode() for name in _archive.namelist() if name.startswith("kernel/")})`
globalThis.onmessage = async ({ data }) => {
  try {
    if (data.what === "begin") {
      await begin(data)
      postMessage({ id: data.id, answer: { python: python.runPython("sys.version.split()[0]"), sources: JSON.parse(python.runPython(SOURCES)) } })
    } else postMessage({ id: data.id, answer: call(data.what, ...data.values) })
  } catch (problem) {
    postMessage({ id: data.id, failure: String(problem).trim().split("\n").pop().slice(0, 300) })
  }
}
