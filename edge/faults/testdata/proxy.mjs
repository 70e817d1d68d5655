// A proxy of Node's own server, with its limits: node proxy.mjs ADDR URL
import http from "node:http";

const [addr, target] = process.argv.slice(2);
const [host, port] = addr.split(":");
http.createServer((request, response) => {
  const { method, url, headers } = request;
  const upstream = http.request(target + url, { method, headers }, answer => {
    response.writeHead(answer.statusCode, answer.rawHeaders);
    answer.pipe(response);
  });
  upstream.on("error", e => { response.writeHead(502); response.end(e.code); });
  request.pipe(upstream);
}).listen(+port, host, () => console.log("listening"));
