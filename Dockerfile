# Built in one image, run in another: compilers, tests and development packages stay behind.
FROM node:22-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without scripts: the one that builds needs the sources, which change more often than this layer.
RUN npm ci --ignore-scripts
COPY . .
RUN npm run prepare && npm prune --omit=dev --ignore-scripts

FROM node:22-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/cql ./cql
# The program's files belong to root and cannot be changed by it; only its data is its own.
RUN install -d -o node -g node /data
USER node
VOLUME /data
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:4000/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/main.js"]
CMD ["serve", "--data=/data"]
