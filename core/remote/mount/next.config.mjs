export default {
  async rewrites() {
    return [{ source: "/auth/:path*", destination: "https://edge.example/auth/:path*" }]
  },
}
