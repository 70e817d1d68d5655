export default {
  server: {
    proxy: {
      "^/auth/": { target: "https://edge.example", changeOrigin: true, xfwd: true },
    },
  },
}
